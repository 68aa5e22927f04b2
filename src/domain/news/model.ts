import { driftNews } from '#domain/drift/news.ts';
import { apiKeyNews } from '#domain/identity/api-keys/news.ts';
import { instanceNews } from '#domain/instances/news.ts';
import { quotaNews } from '#domain/quotas/news.ts';
import { runNews } from '#domain/runs/events/news.ts';
import type { KindOfNews, KindsOfNews } from '#domain/shared/vocabulary/kind-of-news.ts';
import { webhookNews } from '#domain/webhooks/news.ts';

/** The kinds of notifications of all areas. Pure. */

/** All kinds of notifications that the areas declare. An area with a new `news.ts` adds it here. */
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

/** A kind that users receive. */
export type NotificationKind = Declaring<'toUsers'>;
/** A kind that channels receive. */
export type Topic = Declaring<'toChannels'>;
/** A kind of subject of notifications. */
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

/** The name of a kind in filters and in the table of preferences. */
export function labelOf(kind: NotificationKind | Topic): string {
  return kinds[kind].label;
}

/** The description of a kind for users: what it reports and who receives it. */
export function describeToUsers(kind: NotificationKind): string {
  return kinds[kind].toUsers;
}

/** The description of a kind for channels. */
export function describeToChannels(topic: Topic): string {
  return kinds[topic].toChannels;
}

/** Whether a kind is also sent by e-mail and chat by default, because it asks somebody to act. */
export function isMailedByDefault(kind: NotificationKind): boolean {
  return declared[kind]?.asksToAct ?? false;
}

export function isNotificationKind(kind: string): kind is NotificationKind {
  return Object.hasOwn(declared, kind) && declared[kind]?.toUsers !== undefined;
}

export function isTopic(kind: string): kind is Topic {
  return Object.hasOwn(declared, kind) && declared[kind]?.toChannels !== undefined;
}
