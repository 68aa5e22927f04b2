import { driftNews } from '#domain/drift/news.ts';
import { apiKeyNews } from '#domain/identity/api-keys/news.ts';
import { instanceNews } from '#domain/instances/news.ts';
import { quotaNews } from '#domain/quotas/news.ts';
import { runNews } from '#domain/runs/events/news.ts';
import type { KindOfNews, KindsOfNews } from '#domain/shared/vocabulary/kind-of-news.ts';
import { webhookNews } from '#domain/webhooks/news.ts';

/** What people and channels are told. Pure. */

/** Every kind of news that some area declares. An area with a new `news.ts` adds it here. */
const kinds = {
  ...runNews,
  ...driftNews,
  ...webhookNews,
  ...quotaNews,
  ...apiKeyNews,
  ...instanceNews,
} as const satisfies KindsOfNews;
type Kinds = typeof kinds;
type Declaring<Member extends keyof KindOfNews> = {
  [Kind in keyof Kinds]: Kinds[Kind] extends Required<Pick<KindOfNews, Member>> ? Kind : never;
}[keyof Kinds];

/** A kind of news that users hear: a kind of notification. */
export type NotificationKind = Declaring<'toUsers'>;
/** A kind of news that channels hear. */
export type Topic = Declaring<'toChannels'>;
/** A kind of thing that news is about. */
export type SubjectKind = Each<Kinds[keyof Kinds]['subject']>;
type Each<Subject> = Subject extends readonly (infer Kind)[] ? Kind : Subject;

const declared: KindsOfNews = kinds;

function namesWith(member: 'toUsers' | 'toChannels'): string[] {
  return Object.keys(declared).filter((kind) => declared[kind]?.[member] !== undefined);
}

export const notificationKindNames = namesWith('toUsers') as [NotificationKind, ...NotificationKind[]];
export const topicNames = namesWith('toChannels') as [Topic, ...Topic[]];
export const subjectKinds = [
  ...new Set(Object.values(kinds).flatMap(({ subject }): readonly string[] | string => subject)),
] as [SubjectKind, ...SubjectKind[]];

/** What filters and the table of preferences call a kind. */
export function labelOf(kind: NotificationKind | Topic): string {
  return kinds[kind].label;
}

/** What users hear, and which of them. */
export function describeToUsers(kind: NotificationKind): string {
  return kinds[kind].toUsers;
}

/** What channels hear. */
export function describeToChannels(topic: Topic): string {
  return kinds[topic].toChannels;
}

/** Whether e-mail and chat bring a kind unless a user decides otherwise: it asks somebody to do something. */
export function isMailedByDefault(kind: NotificationKind): boolean {
  return declared[kind]?.asksToAct ?? false;
}

export function isNotificationKind(kind: string): kind is NotificationKind {
  return Object.hasOwn(declared, kind) && declared[kind]?.toUsers !== undefined;
}

export function isTopic(kind: string): kind is Topic {
  return Object.hasOwn(declared, kind) && declared[kind]?.toChannels !== undefined;
}
