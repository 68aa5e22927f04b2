import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { NotificationKind, SubjectKind } from '#domain/news/model.ts';
import { isReadableSubject } from '#domain/news/subjects.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { keptDays, maxCounted, maxLookedAt } from './model.ts';

/** A notification as its user sees it. */
export interface NotificationDetails {
  readonly id: string;
  readonly kind: NotificationKind;
  readonly subjectKind: SubjectKind;
  readonly subjectId: string;
  readonly title: string;
  readonly readAt: string | null;
  readonly archivedAt: string | null;
  readonly revision: number;
  readonly createdAt: string;
}

export interface NotificationFilter {
  readonly unread?: boolean | undefined;
  /** Only archived ones; else none of them. */
  readonly archived?: boolean | undefined;
  readonly kind?: NotificationKind | undefined;
}

/** A page of the notifications that a user may still read, newest first. */
export function listNotifications(
  em: Em,
  user: Principal,
  { unread, archived, kind }: NotificationFilter,
  request: PageRequest,
): Promise<Page<NotificationDetails>> {
  let found = selectOwn(em, user).where('n.archivedAt', archived ? 'is not' : 'is', null);
  if (unread !== undefined) found = found.where('n.readAt', unread ? 'is' : 'is not', null);
  if (kind !== undefined) found = found.where('n.kind', '=', kind);
  return pageOf(found.select(details), 'n.id', request);
}

export function readNotification(em: Em, user: Principal, id: string): Promise<NotificationDetails | undefined> {
  return selectOwn(em, user).where('n.id', '=', id).select(details).executeTakeFirst();
}

/** How many unread notifications a user has; more than `maxCounted` are not counted. */
export async function countUnread(em: Em, user: Principal): Promise<number> {
  const { readable } = await countAmongNewest(em, user, maxLookedAt);
  return Math.min(readable, maxCounted);
}

/** How many of the newest unread notifications are examined for the navigation bar. */
export const maxInBar = 100;

/**
 * How many of the newest unread notifications a user may still read. It examines at most `maxInBar` rows of an index, so that every page
 * can show the count.
 */
export async function countNewestUnread(em: Em, user: Principal): Promise<{ count: number; isMore: boolean }> {
  const { looked, readable } = await countAmongNewest(em, user, maxInBar + 1);
  return { count: Math.min(readable, maxInBar), isMore: looked > maxInBar };
}

/** How many unread notifications a user has, up to a number of rows, and how many of these the user may still read. */
function countAmongNewest(em: Em, user: Principal, max: number): Promise<{ looked: number; readable: number }> {
  const newest = db(em)
    .selectFrom('notifications as n')
    .where('n.userId', '=', user.id)
    .where(isUnread)
    .orderBy('n.id', 'desc')
    .limit(max)
    .select(['n.subjectKind', 'n.subjectId']);
  return db(em)
    .selectFrom(newest.as('n'))
    .select((eb) => [
      sql<number>`${eb.fn.countAll()}::int`.as('looked'),
      sql<number>`count(*) filter (where ${isReadableSubject({ kind: eb.ref('n.subjectKind'), id: eb.ref('n.subjectId') }, user)})::int`.as(
        'readable',
      ),
    ])
    .executeTakeFirstOrThrow();
}

/** A thread: all notifications about one subject, shown by the newest. */
export interface ThreadDetails extends NotificationDetails {
  readonly count: number;
  readonly unread: number;
}

export interface ThreadFilter {
  /** Only those with an unread notification, or only those without. */
  readonly unread?: boolean | undefined;
  /** Only those whose newest notification is of this kind. */
  readonly kind?: NotificationKind | undefined;
}

/** A page of a user's threads, those with the newest notification first. Archived notifications do not count. */
export function listThreads(
  em: Em,
  user: Principal,
  { unread, kind }: ThreadFilter,
  request: PageRequest,
): Promise<Page<ThreadDetails>> {
  let found = selectOwn(em, user)
    .where('n.archivedAt', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('notifications as newer')
            .whereRef('newer.userId', '=', 'n.userId')
            .whereRef('newer.subjectId', '=', 'n.subjectId')
            .whereRef('newer.id', '>', 'n.id')
            .where('newer.archivedAt', 'is', null)
            .select('newer.id'),
        ),
      ),
    );
  if (kind !== undefined) found = found.where('n.kind', '=', kind);
  if (unread !== undefined) found = found.where((eb) => (unread ? hasUnread(eb) : eb.not(hasUnread(eb))));
  const counted = found
    .select(details)
    .select((eb) => [countOfThread(eb, 'all').as('count'), countOfThread(eb, 'unread').as('unread')]);
  return pageOf(counted, 'n.id', request);
}

/** A page of the notifications about one subject, newest first, archived ones included. */
export function listThread(
  em: Em,
  user: Principal,
  subjectId: string,
  request: PageRequest,
): Promise<Page<NotificationDetails>> {
  return pageOf(selectOwn(em, user).where('n.subjectId', '=', subjectId).select(details), 'n.id', request);
}

const removedAtOnce = 5_000;

/** Deletes notifications that are older than `keptDays`, a batch at a time. Returns whether there may be more. */
export async function removeOldNotifications(em: Em): Promise<boolean> {
  const old = db(em)
    .selectFrom('notifications')
    .where('createdAt', '<', sql<string>`now() - make_interval(days => ${keptDays})`)
    .limit(removedAtOnce)
    .select('id');
  const { numDeletedRows } = await db(em).deleteFrom('notifications').where('id', 'in', old).executeTakeFirst();
  return Number(numDeletedRows) === removedAtOnce;
}

/** The notifications that a user may still read. */
function selectOwn(em: Em, user: Principal) {
  return db(em)
    .selectFrom('notifications as n')
    .where('n.userId', '=', user.id)
    .where((eb) => isReadableSubject({ kind: eb.ref('n.subjectKind'), id: eb.ref('n.subjectId') }, user));
}

function details(_eb: Over<{ n: 'notifications' }>) {
  return [
    'n.id',
    'n.kind',
    'n.subjectKind',
    'n.subjectId',
    'n.title',
    'n.readAt',
    'n.archivedAt',
    'n.revision',
    'n.createdAt',
  ] as const;
}

function isUnread(eb: Over<{ n: 'notifications' }>) {
  return eb.and([eb('n.readAt', 'is', null), eb('n.archivedAt', 'is', null)]);
}

/** Whether the thread of the notification `n` has an unread one. */
function hasUnread(eb: Over<{ n: 'notifications' }>) {
  return eb.exists(
    eb
      .selectFrom('notifications as other')
      .whereRef('other.userId', '=', 'n.userId')
      .whereRef('other.subjectId', '=', 'n.subjectId')
      .where('other.readAt', 'is', null)
      .where('other.archivedAt', 'is', null)
      .select('other.id'),
  );
}

function countOfThread(eb: Over<{ n: 'notifications' }>, which: 'all' | 'unread') {
  return eb
    .selectFrom('notifications as same')
    .whereRef('same.userId', '=', 'n.userId')
    .whereRef('same.subjectId', '=', 'n.subjectId')
    .where('same.archivedAt', 'is', null)
    .$if(which === 'unread', (query) => query.where('same.readAt', 'is', null))
    .select((of) => sql<number>`${of.fn.countAll()}::int`.as('count'))
    .$asScalar()
    .$notNull();
}
