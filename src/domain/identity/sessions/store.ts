import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare } from '#domain/db.ts';
import { selectPrincipal } from '#domain/shared/access/store.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';

/** The user of an active session. */
export const findPrincipalBySession = prepare((db, parameter: ParameterOf<{ sessionId: string; userId: string }>) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('principals as p', 'p.id', 's.userId')
    .where('s.id', '=', parameter('sessionId'))
    .where('s.userId', '=', parameter('userId'))
    .where('s.revokedAt', 'is', null)
    .where('s.expiresAt', '>', sql<string>`now()`)
    .where('p.enabled', '=', true)
    .where('p.deletedAt', 'is', null)
    .select(selectPrincipal),
);

/** The user with an e-mail address, with the hash of its password. */
export const findPrincipalByEmail = prepare((db, parameter: ParameterOf<{ emailKey: string }>) =>
  db
    .selectFrom('users as u')
    .innerJoin('principals as p', 'p.id', 'u.id')
    .where('u.emailKey', '=', parameter('emailKey'))
    .where('p.deletedAt', 'is', null)
    .select(['u.passwordHash', 'u.passwordGeneration'])
    .select(selectPrincipal),
);

/** An active session as its user sees it. Times are strings. */
export interface SessionDetails {
  readonly id: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly address: string | null;
  readonly userAgent: string | null;
}

function selectActiveSessions(em: Em, userId: string) {
  return db(em)
    .selectFrom('sessions as s')
    .where('s.userId', '=', userId)
    .where('s.revokedAt', 'is', null)
    .where('s.expiresAt', '>', sql<string>`now()`)
    .select(['s.id', 's.createdAt', 's.expiresAt', 's.address', 's.userAgent']);
}

export function listActiveSessions(em: Em, userId: string, request: PageRequest): Promise<Page<SessionDetails>> {
  return pageOf(selectActiveSessions(em, userId), 's.id', request);
}

/** An active session of the user; undefined if it has ended or belongs to another user. */
export function findActiveSession(em: Em, userId: string, sessionId: string): Promise<SessionDetails | undefined> {
  return selectActiveSessions(em, userId).where('s.id', '=', sessionId).executeTakeFirst();
}

/** Ends an active session of the user; false if it has ended or belongs to another user. */
export async function endSession(em: Em, userId: string, sessionId: string): Promise<boolean> {
  const ended = await activeSessionsToEnd(em, userId).where('id', '=', sessionId).returning('id').execute();
  return ended.length > 0;
}

/** Ends all active sessions of the user. */
export async function endSessions(em: Em, userId: string): Promise<void> {
  await activeSessionsToEnd(em, userId).execute();
}

function activeSessionsToEnd(em: Em, userId: string) {
  return db(em)
    .updateTable('sessions')
    .set({ revokedAt: sql<string>`clock_timestamp()` })
    .where('userId', '=', userId)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '>', sql<string>`now()`);
}

/** Deletes at most `limit` sessions that expired before the retention time, oldest first; returns how many. */
export async function deleteOldSessions(em: Em, retentionDays: number, limit: number): Promise<number> {
  const deleted = await db(em)
    .deleteFrom('sessions')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('sessions')
        .where('expiresAt', '<', sql<string>`now() - make_interval(days => ${retentionDays})`)
        .orderBy('expiresAt')
        .limit(limit)
        .forUpdate()
        .skipLocked()
        .select('id'),
    )
    .returning('id')
    .execute();
  return deleted.length;
}
