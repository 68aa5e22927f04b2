import { secretPage } from '#api/tenancy/pages/signing-secret.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage, type Typed } from '#api/web/forms/form-page.ts';
import { offerKinds } from '#api/web/forms/kind-choice.ts';
import { addUrlProblem, revisionField } from '#api/web/forms/resource-forms.ts';
import { readWords } from '#api/web/forms/word-list.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { noMailServer } from '#domain/messages/sending-failure.ts';
import { type ChannelKind, channelKinds } from '#domain/notification-channels/model.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { create, remove, update } from '../operations.ts';
import { channelForm, channelPath, channelsCrumb, kindWords, type ShownChannel } from './labels.ts';
import { channelOwners } from './owners.ts';
import { secretPlaces } from './secret-page.ts';

const nameField: FormField = { name: 'name', label: 'Name', hint: 'Such as On call.' };
const recipientsField: FormField = {
  name: 'config.recipients',
  label: 'Recipients',
  kind: 'area',
  isWordList: true,
  hint: 'One e-mail address per line, such as oncall@example.com.',
};
/** The field for recipients. If no mail server is configured, it says so before people wait for messages. */
function recipientsFieldFor(visit: Visit): FormField {
  if (sendsMail(visit)) return recipientsField;
  return { ...recipientsField, hint: html`${recipientsField.hint} ${toSentence(noMailServer)}` };
}
const urlField: FormField = {
  name: 'config.url',
  label: 'URL',
  isSecret: true,
  hint: 'It starts with https://. Anybody who knows it can post there, so it is stored encrypted, and only its host is shown.',
};

const enabledField = (isEnabled: boolean) => checkboxField('enabled', 'Send messages', isEnabled);

/** The configuration of a kind from what was typed; undefined if it stays unchanged. */
function toConfig(visit: Visit<unknown>, kind: ChannelKind, typed: Typed) {
  if (kind === 'email') return { recipients: readWords(typed['config.recipients']) };
  const url = (typed['config.url'] ?? '').trim();
  addUrlProblem(visit, 'config.url', url);
  return url === '' ? undefined : { url };
}

/** The kind in the address or, without one, the first kind that can send. @throws Invalid for a kind that does not exist */
function chosenKind(visit: Visit): ChannelKind {
  const of = visit.query('of') ?? channelKinds.find((kind) => kind !== 'email' || sendsMail(visit));
  const found = channelKinds.find((kind) => kind === of);
  if (found === undefined) throw new Invalid(`of: expected one of ${channelKinds.join(', ')}`);
  return found;
}

function sendsMail({ context }: Visit): boolean {
  return context.services.config.mail !== null;
}

const newForm = formPage(pages.newNotificationChannel, {
  read: async (visit) => chosenKind(visit),
  describe: async (kind, visit) => ({
    title: 'New notification channel',
    crumbs: [channelsCrumb],
    lead: 'The channel gets the events of everything that its owner owns. You can limit it to teams, environments and events later.',
    kinds: {
      label: 'Type',
      kinds: offerKinds(visit, { page: pages.newNotificationChannel, labels: kindWords, chosen: kind }),
      about: 'It cannot be changed later.',
    },
    fields: [
      await channelOwners.field(visit),
      nameField,
      kind === 'email' ? recipientsFieldFor(visit) : urlField,
      enabledField(true),
    ],
    submit: 'Create channel',
    cancel: pagePath(pages.notificationChannels),
    refusal: (await channelOwners.mayCreate(visit)).reason,
    forgets: () => ['config.url'],
  }),
  carryOut: async (kind, typed, visit) => {
    const config = toConfig(visit, kind, typed) ?? { url: '' };
    const settings = { name: typed['name'], kind, config, enabled: isYes(typed['enabled']) };
    const owner = await channelOwners.toBody(visit, typed);
    const made = await visit.run(create, { body: { ...settings, ...owner } });
    return made.secret === null ? channelPath(made, 'created') : secretPage(secretPlaces, made, 'Channel created.');
  },
});

const editForm = channelForm(pages.editNotificationChannel, 'update', {
  describe: (channel) => ({
    title: `Edit ${channel.name}`,
    lead: 'Waiting messages are sent to the new recipients. While the channel is disabled, they are not sent.',
    fields: [
      { ...nameField, value: channel.name },
      targetField(channel),
      enabledField(channel.enabled),
      revisionField(channel),
    ],
    submit: 'Save changes',
    forgets: () => ['config.url'],
  }),
  carryOut: async (channel, typed, visit) => {
    const { name, enabled } = typed;
    const config = toConfig(visit, channel.kind, typed);
    const body = { name, enabled: isYes(enabled), ...(config && { config }) };
    await visit.run(update, { params: { id: channel.id }, body });
    return channelPath(channel, 'saved');
  },
});

function targetField({ kind, config: { recipients, host } }: ShownChannel): FormField {
  if (kind === 'email') return { ...recipientsField, value: recipients?.join('\n') ?? '' };
  return { ...urlField, label: 'New URL', isOptional: true, hint: `Leave empty to keep the URL at ${host}.` };
}

const deleteForm = channelForm(pages.deleteNotificationChannel, 'delete', {
  describe: (channel) => ({
    title: `Delete ${channel.name}`,
    lead: 'It sends no more messages, and waiting messages are discarded.',
    submit: 'Delete channel',
    tone: 'danger',
  }),
  carryOut: async ({ id }, _typed, visit) => {
    await visit.run(remove, { params: { id } });
    return pagePath(pages.notificationChannels, {}, { done: 'deleted' });
  },
});

/** The forms that make, change and delete notification channels. */
export const channelForms = [newForm, editForm, deleteForm];
