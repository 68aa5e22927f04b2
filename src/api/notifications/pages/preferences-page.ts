import type { z } from 'zod';
import type { FormField } from '#api/web/forms/form.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { notificationKindNames } from '#domain/notifications/model.ts';
import { get, type PreferencesView, replace } from '../preference-operations.ts';
import { kindLabels, notificationsCrumb } from './words.ts';

type Shown = z.input<typeof PreferencesView>;

const ways = [
  { value: 'none', label: 'not at all', page: false, email: false },
  { value: 'page', label: 'on the page', page: true, email: false },
  { value: 'email', label: 'by e-mail', page: false, email: true },
  { value: 'both', label: 'on the page and by e-mail', page: true, email: true },
] as const;

/** Adds the form in which visitors choose how they hear of each kind. */
export function registerPreferences(addPage: AddPage): void {
  addFormPage(addPage, pages.notificationPreferences, {
    read: (visit) => visit.read(get),
    describe: (shown) => ({
      title: 'Notification preferences',
      crumbs: [notificationsCrumb],
      lead: html`<p>Choose how you hear of each kind from now on. ${describeMailbox(shown)}</p>`,
      fields: shown.preferences.map(toField),
      submit: 'Save preferences',
      cancel: pagePath(pages.notifications),
      refusal: refusalOf(shown.actions, 'replace'),
    }),
    carryOut: async (_shown, typed, visit) => {
      // A form that is older than a kind does not name it, and leaves it at its default.
      const preferences = notificationKindNames.flatMap((kind) => {
        const way = ways.find(({ value }) => value === typed[fieldOf(kind)]);
        return way ? [{ kind, page: way.page, email: way.email }] : [];
      });
      await visit.run(replace, { body: { preferences } });
      return pagePath(pages.notificationPreferences, {}, { done: 'saved' });
    },
  });
}

/** Names of fields cannot have dots: those lead into the body. */
function fieldOf(kind: string): string {
  return kind.replace('.', '-');
}

function toField({ kind, description, page, email }: Shown['preferences'][number]): FormField {
  const value = ways.find((way) => way.page === page && way.email === email)?.value;
  const choices = ways.map(({ value: each, label }) => ({ value: each, label }));
  return { name: fieldOf(kind), label: kindLabels[kind], kind: 'select', choices, value, hint: description };
}

function describeMailbox({ email: { address, problem } }: Shown) {
  if (problem === null) return html`E-mail goes to <strong class="foreign">${address}</strong>.`;
  return html`You get no e-mail now. ${problem}`;
}
