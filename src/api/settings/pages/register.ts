import { renderIcon } from '#api/web/components/icon.ts';
import { renderHistoryLink } from '#api/web/components/links/history-link.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { get, update } from '../operations.ts';
import { settingsName } from '../views.ts';
import { addSettingsProblems, toChange } from './change.ts';
import { settingsFields } from './fields.ts';

/** Adds the page of the settings, which shows what holds and changes it. For administrators. */
export function registerSettingsPages(addPage: AddPage): void {
  addFormPage(addPage, pages.settings, {
    read: (visit) => visit.read(get),
    describe: (settings) => ({
      title: 'Settings',
      crumbs: [],
      below: 'They apply to the whole installation immediately.',
      actions: html`<div class="actions"><a class="button button-plain" href="${pagePath(pages.signingKeys)}">${renderIcon('key-round')}Signing keys</a>${renderHistoryLink('settings', settingsName)}</div>`,
      fields: settingsFields(settings),
      submit: 'Save settings',
      cancel: pagePath(pages.settings),
      news: pages.settings,
      refusal: refusalOf(settings.actions, 'update'),
    }),
    carryOut: async (settings, typed, visit) => {
      addSettingsProblems(visit, typed);
      await visit.run(update, { body: toChange(settings, typed) });
      return pagePath(pages.settings, {}, { done: 'saved' });
    },
  });
}
