import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { emailKey } from '#domain/identity/model.ts';
import type { Medium } from '#domain/messages/model.ts';
import { type NewMessage, queueMessages } from '#domain/messages/queue/queue-store.ts';
import { isNotificationKind, isTopic, type NotificationKind, type Topic } from '#domain/news/model.ts';
import { findSubjectOwner, mayReadSubject, type Subject } from '#domain/news/subjects.ts';
import { type ChannelConfig, channelSending } from '#domain/notification-channels/model.ts';
import {
  findPlace,
  findSubscribedChannels,
  type SubscribedChannel,
} from '#domain/notification-channels/subscription-matches-store.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { newId } from '#domain/shared/ids.ts';
import { findChatUsers } from '../chats-store.ts';
import { findListeners } from '../preferences-store.ts';

/** A notification for users and channels, who receive it only if they may read its subject. */
export interface Draft {
  readonly kind: NotificationKind | Topic;
  readonly subject: Subject;
  readonly title: string;
  /** Further facts for messages, in whole sentences; without any, messages explain the kind. */
  readonly facts?: readonly string[];
  /** Each user and each channel is notified once for one cause. */
  readonly cause: string;
  /** When it happened. Channels that were created later are not notified. */
  readonly at?: string;
  readonly candidates: readonly string[];
}

/** The media that are available now. Users always see notifications on the page. */
export type EnabledMedia = ReadonlySet<Medium>;

/**
 * Notifies the candidates of a draft who are users, may read its subject now and want its kind: on the page, by e-mail, or in their chats.
 * It also notifies the channels whose subscriptions match. Repeating it notifies nobody twice. Returns how many users were notified on the
 * page.
 */
export async function notify(em: Em, draft: Draft, media: EnabledMedia): Promise<number> {
  await notifyChannels(em, draft, media);
  return notifyUsers(em, draft, media);
}

async function notifyUsers(em: Em, draft: Draft, media: EnabledMedia): Promise<number> {
  const { kind, subject, candidates } = draft;
  if (!isNotificationKind(kind)) return 0;
  const listeners = await findListeners(em, kind, [...new Set(candidates)]);
  if (listeners.size === 0) return 0;
  const owner = await findSubjectOwner(em, subject);
  const users = await readPrincipals(em, [...listeners.keys()]);
  const readers = [...users.values()].filter((user) => mayReadSubject(user, subject, owner)).map(({ id }) => id);
  const wanting = (way: 'page' | 'email' | 'chat') => readers.filter((id) => listeners.get(id)?.[way]);
  if (media.has('email')) await send(em, draft, toUsers('email', wanting('email')));
  if (media.has('chat')) await send(em, draft, toUsers('chat', await findChatUsers(em, wanting('chat'))));
  return addToPage(em, kind, draft, wanting('page'));
}

async function notifyChannels(em: Em, draft: Draft, media: EnabledMedia): Promise<void> {
  const { kind: topic, subject, at } = draft;
  if (!isTopic(topic) || media.size === 0) return;
  const channels = await findSubscribedChannels(em, { topic, place: await findPlace(em, subject), at });
  const recipients = channels.flatMap(toChannel).filter(({ medium }) => media.has(medium));
  await send(em, draft, withoutRepeats(recipients));
}

/** Removes repeated addresses: an address that several channels name gets one mail for an event. */
function withoutRepeats(recipients: readonly To[]): To[] {
  const seen = new Set<string>();
  return recipients.filter(({ address }) => {
    if (address === undefined) return true;
    const key = emailKey(address);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

async function addToPage(
  em: Em,
  kind: NotificationKind,
  { subject, title, cause }: Draft,
  userIds: readonly string[],
): Promise<number> {
  if (userIds.length === 0) return 0;
  const rows = userIds.map((userId) => ({
    id: newId(),
    userId,
    kind,
    subjectKind: subject.kind,
    subjectId: subject.id,
    title,
    cause,
    createdAt: new Date().toISOString(),
  }));
  let notified = 0;
  for (let first = 0; first < rows.length; first += maxRowsAtOnce) {
    const added = await db(em)
      .insertInto('notifications')
      .values(rows.slice(first, first + maxRowsAtOnce))
      .onConflict((conflict) => conflict.columns(['userId', 'cause']).doNothing())
      .returning('id')
      .execute();
    notified += added.length;
  }
  return notified;
}

/** A statement takes 65,535 parameters at the most. */
const maxRowsAtOnce = 1_000;

type To = Pick<NewMessage, 'medium' | 'userId' | 'channelId' | 'address'>;

function toUsers(medium: Medium, userIds: readonly string[]): To[] {
  return userIds.map((userId) => ({ medium, userId }));
}

/** A channel with recipients gets a message for each of them, so that a wrong address does not affect the others. */
function toChannel({ id: channelId, kind, recipients }: SubscribedChannel): To[] {
  const { medium, destination } = channelSending[kind];
  const messages = {
    recipients: () => (recipients ?? []).map((address) => ({ medium, channelId, address })),
    url: () => [{ medium, channelId }],
  } satisfies Record<keyof ChannelConfig, () => To[]>;
  return messages[destination]();
}

/** Queues the messages. When a message is sent, the service checks again whether the recipient may still receive it. */
async function send(em: Em, { kind, subject, title, facts, cause }: Draft, recipients: readonly To[]): Promise<void> {
  const content = { purpose: 'notification', kind, title, ...(facts && { facts }) } as const;
  await queueMessages(
    em,
    recipients.map((to) => ({ ...to, content, subject, cause })),
  );
}
