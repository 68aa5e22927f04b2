import type { DueMessage } from '#domain/messages/queue/lease-store.ts';
import { asForeignText, toSubject, type Wording } from '#domain/messages/wording.ts';
import { describeToChannels, describeToUsers, isNotificationKind, isTopic } from '#domain/news/model.ts';
import { type ChannelConfig, type ChannelKind, channelSending } from '#domain/notification-channels/model.ts';
import { channelSecrets, openUrl } from '#domain/notification-channels/secrets.ts';
import { type ChannelTarget, findChannel } from '#domain/notification-channels/store.ts';
import { findPlace, isStillSubscribed } from '#domain/notification-channels/subscription-matches-store.ts';
import { openChat } from '#domain/notifications/chats-store.ts';
import { notificationsFeature } from '#domain/notifications/feature.ts';
import { readGates } from '#domain/settings/store.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { findSubjectPath, type LinkReader, preferencesPath } from './links.ts';
import { findMailbox, isWithheldAddress, mayStillRead } from './recipients-store.ts';
import type { ContentOf, News, PrepareDeps, Prepared, Recipient } from './send-message.ts';

type Content = ContentOf<'notification'>;

/** The recipient of a message, and the texts for this recipient. */
interface Addressee {
  readonly to: Recipient;
  /** The kind of the event, in a sentence for this recipient. */
  readonly about: string;
  readonly reason: string;
  readonly readers: LinkReader;
}
type Found = Addressee | { readonly withhold: string };

/** Words a notification for a user or a channel, unless the recipient must no longer receive it. */
export async function prepareNotification(deps: PrepareDeps, message: DueMessage, content: Content): Promise<Prepared> {
  if (describeClosed('notifications', await readGates(deps.em)) !== null)
    return { withhold: `${notificationsFeature.title.toLowerCase()} are turned off` };
  const found =
    message.channelId === null
      ? await addressUser(deps, message, content)
      : await addressChannel(deps, message, content);
  if ('withhold' in found) return found;
  const news: News = { kind: content.kind, subject: subjectOf(message) };
  return { to: found.to, wording: await word(deps, news, content, found), news };
}

function subjectOf({ subjectKind, subjectId }: DueMessage): News['subject'] {
  return subjectKind && subjectId ? { kind: subjectKind, id: subjectId } : null;
}

async function word(
  { em, linkOrigin }: PrepareDeps,
  { subject }: News,
  content: Content,
  { about, reason, readers }: Addressee,
): Promise<Wording> {
  const path = subject && (await findSubjectPath(em, subject, readers));
  return {
    subject: toSubject(asForeignText(content.title)),
    lines: content.facts?.map(asForeignText) ?? [about],
    link: path === null || linkOrigin === null ? null : { label: 'Open it', url: linkOrigin + path },
    reason,
  };
}

async function addressUser(
  { em, keyRing, linkOrigin }: PrepareDeps,
  message: DueMessage,
  { kind }: Content,
): Promise<Found> {
  if (!isNotificationKind(kind)) return { withhold: 'only channels get messages of this kind' };
  const about = describeToUsers(kind);
  const mailbox = await findMailbox(em, message.userId);
  if (!mailbox) return { withhold: 'the user is disabled or gone' };
  if (message.medium === 'email' && !mailbox.isVerified)
    return { withhold: 'the address of the user is not confirmed' };
  if (!(await mayStillRead(em, message.id, message.userId)))
    return { withhold: 'the user may not read any more what it is about' };
  const where = linkOrigin === null ? 'on the page Notification preferences' : `at ${linkOrigin}${preferencesPath}`;
  if (message.medium === 'email')
    return {
      to: { medium: 'email', address: mailbox.address },
      about,
      readers: 'administrators',
      reason: `You get this by e-mail, as your notification preferences say. Change them ${where}.`,
    };
  const url = await openChat(em, keyRing, message.userId);
  if (url === null) return { withhold: 'the user has no chat any more' };
  return {
    to: { medium: 'chat', url },
    about,
    readers: 'administrators',
    reason: `You get this in your chat, as your notification preferences say. Change them ${where}.`,
  };
}

async function addressChannel({ em, keyRing }: PrepareDeps, message: DueMessage, { kind }: Content): Promise<Found> {
  const subject = subjectOf(message);
  const target = await findChannel(em, message.channelId ?? '');
  if (!target || subject === null || !isTopic(kind)) return { withhold: 'the channel is gone' };
  const { channel } = target;
  if (!(await isStillSubscribed(em, channel.id, kind, await findPlace(em, subject))))
    return { withhold: 'the channel is disabled, or none of its subscriptions matches this any more' };
  const to = recipientOf(target, keyRing, message.address);
  if (!to) return { withhold: 'the address was taken out of the channel' };
  if (to.medium === 'email' && (await isWithheldAddress(em, target, to.address))) return { withhold: withheldAddress };
  const readers = target.organizationId === null && target.teamId === null ? 'administrators' : 'owners';
  return { to, about: describeToChannels(kind), reason: describeChannel(channel), readers };
}

/**
 * The reason for a withheld address, which names no user and no organization. In the list of messages, managers of the channel can still
 * see the difference: a message that the mail server refuses is `failed`, and this one is `withheld`. The answer of `testChannel` does not
 * distinguish the two.
 */
const withheldAddress = 'the service does not send this address what the channel hears';

/**
 * Why a recipient of a channel gets a message. Only recipients of e-mail can be removed from a channel: everybody in a chat room reads the
 * same message.
 */
export function describeChannel({ name, kind }: Pick<ChannelTarget['channel'], 'name' | 'kind'>): string {
  const named = `the notification channel ${asForeignText(name)}`;
  const reasons = {
    recipients: `You get this by ${named}. Those who manage the channel can take you out.`,
    url: `The service sends this by ${named}. Those who manage the channel choose what it sends.`,
  } satisfies Record<keyof ChannelConfig, string>;
  return reasons[channelSending[kind].destination];
}

type FindRecipient = (
  channel: ChannelTarget['channel'],
  keyRing: PrepareDeps['keyRing'],
  address: string | null,
) => Recipient | undefined;

const recipientByKind: Record<ChannelKind, FindRecipient> = {
  slack: (channel, keyRing) => ({ medium: 'chat', url: openUrl(keyRing, channel) }),
  webhook: (channel, keyRing) => ({
    medium: 'webhook',
    url: openUrl(keyRing, channel),
    secrets: channelSecrets.open(keyRing, channel),
  }),
  email: ({ recipients }, _keyRing, address) =>
    address !== null && recipients?.includes(address) ? { medium: 'email', address } : undefined,
};

/**
 * The destination of a channel, or the one of its addresses that a message names; undefined for an address that the channel no longer has.
 */
export function recipientOf(
  { channel }: Pick<ChannelTarget, 'channel'>,
  keyRing: PrepareDeps['keyRing'],
  address: string | null,
): Recipient | undefined {
  return recipientByKind[channel.kind](channel, keyRing, address);
}
