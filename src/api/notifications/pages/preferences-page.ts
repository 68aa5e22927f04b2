import type { z } from 'zod';
import { renderTime } from '#api/web/components/time.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { readRow } from '#api/web/forms/fields/matrix.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage, type Typed } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { labelOf, notificationKindNames } from '#domain/news/model.ts';
import { get, type PreferencesView, replace } from '../preference-operations.ts';
import { notificationsCrumb } from './labels.ts';

type Shown = z.input<typeof PreferencesView>;

const ways = [
  { name: 'page', label: 'In the app' },
  { name: 'email', label: 'By e-mail' },
  { name: 'chat', label: 'In your chat' },
] as const;
const wayNames = ways.map(({ name }) => name);

/** The form in which visitors choose how they are notified of each kind, and set the address of their chat. */
export const preferencesForm = formPage(pages.notificationPreferences, {
  read: (visit) => visit.read(get),
  describe: (shown) => ({
    title: 'Notification preferences',
    crumbs: [notificationsCrumb],
    lead: html`<p>Choose how you are notified of each kind of event. ${describeMailbox(shown)}</p>`,
    fields: [toTable(shown), ...chatFields(shown), { ...revisionField(shown), isOptional: true }],
    submit: 'Save preferences',
    cancel: pagePath(pages.notifications),
    confirmations: pages.notificationPreferences,
    refusal: refusalOf(shown.actions, 'replace'),
    forgets: () => ['chat_url'],
  }),
  carryOut: async (_shown, typed, visit) => {
    // A form that was loaded before a kind existed does not contain it. The kind keeps its default.
    const preferences = notificationKindNames.flatMap((kind) => {
      const chosen = readRow(typed, kind, wayNames);
      if (!chosen) return [];
      return [{ kind, page: chosen.has('page'), email: chosen.has('email'), chat: chosen.has('chat') }];
    });
    await visit.run(replace, { body: { preferences, ...toChat(typed) } });
    return pagePath(pages.notificationPreferences, {}, { done: 'saved' });
  },
});

function toTable({ preferences }: Shown): FormField {
  const rows = preferences.map((each) => ({
    name: each.kind,
    label: labelOf(each.kind),
    hint: each.description,
    ticked: new Set<string>(wayNames.filter((way) => each[way])),
  }));
  return {
    name: 'preferences',
    label: 'Notification settings',
    kind: 'matrix',
    matrix: { heading: 'Kind', columns: ways, rows },
  };
}

/** The fields for the chat. The page never shows its URL, because anybody who knows it can post there. */
function chatFields({ chat: { host, problem, paused_until: until } }: Shown): FormField[] {
  const about = 'An incoming webhook of Slack, or of a compatible chat, that only you can read.';
  const state =
    host === null
      ? html`None set. ${about}`
      : html`Messages go to <strong class="foreign">${host}</strong>. Leave empty to keep it. ${about}`;
  const failure =
    problem === null
      ? null
      : html` <span class="foreign">Messages do not arrive: ${toSentence(problem)}</span>${until && html` The next one is sent after ${renderTime(String(until))}.`}`;
  const address: FormField = {
    name: 'chat_url',
    label: host === null ? 'URL of your chat' : 'New URL of your chat',
    isOptional: true,
    isSecret: true,
    hint: html`${state}${failure}`,
  };
  const removal = checkboxField('forget_chat', `Remove the chat at ${host}`);
  return host === null ? [address] : [address, removal];
}

/** Reads the fields for the chat. If nothing was typed, the chat stays as it is. */
function toChat({ chat_url: url = '', forget_chat: forgets }: Typed): { chat_url?: string | null } {
  if (isYes(forgets)) return { chat_url: null };
  return url.trim() === '' ? {} : { chat_url: url.trim() };
}

function describeMailbox({ email: { address, problem } }: Shown) {
  if (problem === null) return html`E-mail goes to <strong class="foreign">${address}</strong>.`;
  return html`You get no e-mail at the moment. ${problem}`;
}
