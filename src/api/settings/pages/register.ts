import { renderIcon } from '#api/web/components/icon.ts';
import { renderHistoryLink } from '#api/web/components/links/history-link.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { type FormPageDeclaration, formPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages, type Query } from '#api/web/paths.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { get, update } from '../operations.ts';
import { settingsName } from '../views.ts';
import { addSettingsProblems, toChange } from './change.ts';
import { type SettingsSection, type ShownSettings, settingsFields, settingsSections } from './fields.ts';

interface Subject {
  readonly settings: ShownSettings;
  readonly section: SettingsSection;
}

function sectionPage<Params>(keyOf: (params: Params) => string): FormPageDeclaration<Params, Subject> {
  return {
    read: async (visit) => {
      const settings = await visit.read(get);
      const section = settingsSections.find(({ key }) => key === keyOf(visit.params));
      if (!section) throw new NotFound('the page');
      return { settings, section };
    },
    describe: describeSection,
    carryOut: async ({ settings, section }, typed, visit) => {
      addSettingsProblems(visit, typed);
      await visit.run(update, { body: toChange(section, settings, typed) });
      return sectionPath(section, { done: 'saved' });
    },
  };
}

function describeSection({ settings, section }: Subject) {
  const tabs = settingsSections.map((each) => ({
    label: each.title,
    path: sectionPath(each),
    isCurrent: each === section,
  }));
  return {
    title: section === settingsSections[0] ? 'Settings' : `Settings: ${section.title}`,
    crumbs: [],
    below: 'They apply to the whole installation immediately.',
    actions: html`<div class="actions"><a class="button button-plain" href="${pagePath(pages.signingKeys)}">${renderIcon('key-round')}Signing keys</a>${renderHistoryLink('settings', settingsName)}</div>`,
    tabs: renderTabs('Sections of the settings', tabs),
    lead: html`<p class="muted">${section.help}</p>`,
    fields: settingsFields(section, settings),
    submit: 'Save settings',
    cancel: sectionPath(section),
    confirmations: pages.settings,
    refusal: refusalOf(settings.actions, 'update'),
  } as const;
}

/** The address of a section. The navigation links to the first one. */
function sectionPath(section: SettingsSection, query?: Query): LocalPath {
  if (section === settingsSections[0]) return pagePath(pages.settings, {}, query);
  return pagePath(pages.settingsSection, { section: section.key }, query);
}

/** The pages of the settings, one for each section, which show and change the effective values. Only administrators see them. */
export const settingsPages = [
  formPage(
    pages.settings,
    sectionPage<unknown>(() => settingsSections[0].key),
  ),
  formPage(
    pages.settingsSection,
    sectionPage<{ readonly section: string }>(({ section }) => section),
  ),
];
