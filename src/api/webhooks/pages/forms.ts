import { secretPage } from '#api/tenancy/pages/signing-secret.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage, type Typed } from '#api/web/forms/form-page.ts';
import { addUrlProblem, revisionField } from '#api/web/forms/resource-forms.ts';
import { readWords } from '#api/web/forms/word-list.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { everyEvent } from '#domain/webhooks/model.ts';
import { Pattern } from '../bodies.ts';
import { checkPatterns } from '../event-catalogue.ts';
import { create, listEvents, remove, update } from '../operations.ts';
import { type ShownWebhook, webhookForm, webhookPath, webhooksCrumb } from './labels.ts';
import { webhookOwners } from './owners.ts';
import { secretPlaces } from './secret-page.ts';

async function settingFields(visit: Visit<unknown>, webhook?: ShownWebhook): Promise<FormField[]> {
  return [
    { name: 'name', label: 'Name', hint: 'Such as Chat.', value: webhook?.name },
    {
      name: 'url',
      label: 'URL',
      // Anybody who knows the URL of a chat can post there.
      isSecret: true,
      hint: 'It starts with https:// and must be on the public Internet, unless an operator allows others.',
      value: webhook?.url ?? undefined,
    },
    await eventsField(visit, webhook?.events ?? [everyEvent]),
    checkboxField('enabled', 'Send events', webhook?.enabled ?? true),
  ];
}

function readSettings(visit: Visit, { name, url, events, enabled }: Typed) {
  addUrlProblem(visit, 'url', url);
  return { name, url, events: toEvents(visit, events), enabled: isYes(enabled) };
}

const newForm = formPage(pages.newWebhook, {
  read: async () => null,
  describe: async (_subject, visit) => ({
    title: 'New webhook',
    crumbs: [webhooksCrumb],
    fields: [await webhookOwners.field(visit), ...(await settingFields(visit))],
    submit: 'Create webhook',
    cancel: pagePath(pages.webhooks),
    refusal: (await webhookOwners.mayCreate(visit)).reason,
  }),
  carryOut: async (_subject, typed, visit) => {
    const body = { ...readSettings(visit, typed), ...(await webhookOwners.toBody(visit, typed)) };
    const made = await visit.run(create, { body });
    return secretPage(secretPlaces, made, 'Webhook created.');
  },
});

const editForm = webhookForm(pages.editWebhook, 'update', {
  describe: async (webhook, visit) => ({
    title: `Edit ${webhook.name}`,
    lead: 'Waiting deliveries are sent to the new URL, unless the webhook no longer gets their type of event. While the webhook is disabled, it gets no events. Deliveries that waited before are sent once it is enabled.',
    fields: [...(await settingFields(visit, webhook)), revisionField(webhook)],
    submit: 'Save changes',
  }),
  carryOut: async (webhook, typed, visit) => {
    await visit.run(update, { params: { id: webhook.id }, body: readSettings(visit, typed) });
    return webhookPath(webhook, 'saved');
  },
});

const deleteForm = webhookForm(pages.deleteWebhook, 'delete', {
  describe: (webhook) => ({
    title: `Delete ${webhook.name}`,
    lead: 'Its endpoint gets no more messages, waiting deliveries are discarded, and the delivery log is deleted.',
    submit: 'Delete webhook',
    tone: 'danger',
  }),
  carryOut: async ({ id }, _typed, visit) => {
    await visit.run(remove, { params: { id } });
    return pagePath(pages.webhooks, {}, { done: 'deleted' });
  },
});

/** The field for the events of a webhook, above a list of all events. */
async function eventsField(visit: Visit<unknown>, events: readonly string[]): Promise<FormField> {
  return {
    name: 'events',
    label: 'Events',
    kind: 'area',
    isWordList: true,
    value: events.join('\n'),
    hint: 'One per line: * for all events, an area such as run.*, or a name such as run.finished. Audit records are sent only for audit.recorded.',
    below: await renderEventList(visit),
  };
}

/**
 * Reads the events, one a line. Events that do not exist add problems to the visit. The schema refuses texts that cannot be event types.
 */
function toEvents(visit: Visit<unknown>, text?: string): string[] {
  const events = readWords(text);
  const patterns = events.filter((event) => Pattern.safeParse(event).success);
  visit.collect(() => checkPatterns(visit.context.operations, patterns));
  return events;
}

/** All events that webhooks can receive, by area. */
async function renderEventList(visit: Visit<unknown>): Promise<Html> {
  const { events } = await visit.read(listEvents);
  const areas = Map.groupBy(events, ({ type }) => type.slice(0, type.indexOf('.')));
  return html`<details class="fold"><summary>All ${events.length} events</summary><ul class="plain-list" role="list">
${[...areas].map(
  ([area, types]) =>
    html`<li><strong class="mono">${area}.*</strong>: <span class="mono">${types.map(({ type }) => type).join(', ')}</span></li>`,
)}</ul></details>`;
}

/** The forms that make, change and delete webhooks. */
export const webhookForms = [newForm, editForm, deleteForm];
