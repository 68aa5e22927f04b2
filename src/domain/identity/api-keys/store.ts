import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import type { RowOf } from '#database/tables.ts';
import { db, type Over, prepare } from '#domain/db.ts';
import { selectPrincipal } from '#domain/shared/access/store.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { ApiKeyState } from '../model.ts';

/** The enabled principal of an active key. `stale`: the last recorded use of the key is more than a minute old. */
export const findPrincipalByVerifier = prepare((db, parameter: ParameterOf<{ verifier: Buffer }>) =>
  db
    .selectFrom('api_keys as k')
    .innerJoin('principals as p', 'p.id', 'k.principalId')
    .leftJoin('api_key_uses as use', 'use.keyId', 'k.id')
    .where('k.verifier', '=', parameter('verifier'))
    .where('k.revokedAt', 'is', null)
    .where((eb) => eb.or([eb('k.expiresAt', 'is', null), eb('k.expiresAt', '>', sql<string>`now()`)]))
    .where('p.enabled', '=', true)
    .where('p.deletedAt', 'is', null)
    .select(['k.id as keyId', 'k.issuedBy'])
    .select((eb) => sql<boolean>`coalesce(${eb.ref('use.lastUsedAt')} < now() - interval '1 minute', true)`.as('stale'))
    .select(selectPrincipal),
);

/** A key as the API shows it: everything that identifies it, never its verifier. Times are strings. */
export type ApiKeyDetails = RowOf<typeof selectKeys>;

function selectKeys(em: Em, principalId: string) {
  return db(em)
    .selectFrom('api_keys as k')
    .leftJoin('api_key_uses as u', 'u.keyId', 'k.id')
    .where('k.principalId', '=', principalId)
    .select([
      'k.id',
      'k.kind',
      'k.name',
      'k.hint',
      'k.issuedBy',
      'k.rotatedFrom',
      'k.createdAt',
      'k.expiresAt',
      'k.revokedAt',
      'u.lastUsedAt',
    ])
    .select((eb) => selectState(eb).as('state'));
}

/** The state of a key by the present time, not by the start of the transaction. */
export function selectState(eb: Over<{ k: 'api_keys' }>) {
  return eb
    .case()
    .when('k.revokedAt', 'is not', null)
    .then<ApiKeyState>('revoked')
    .when('k.expiresAt', '<=', sql<string>`clock_timestamp()`)
    .then<ApiKeyState>('expired')
    .else<ApiKeyState>('active')
    .end();
}

/** The keys of a principal, with expired and revoked ones. */
export function listKeys(em: Em, principalId: string, request: PageRequest): Promise<Page<ApiKeyDetails>> {
  return pageOf(selectKeys(em, principalId), 'k.id', request);
}

/** A key of a principal; undefined if it belongs to another one. */
export function findKey(em: Em, principalId: string, keyId: string): Promise<ApiKeyDetails | undefined> {
  return selectKeys(em, principalId).where('k.id', '=', keyId).executeTakeFirst();
}

/** Who issued a key, and whether it is active. Undefined if no key has this id. */
export function findKeyById(em: Em, keyId: string): Promise<{ issuedBy: string; state: ApiKeyState } | undefined> {
  return db(em)
    .selectFrom('api_keys as k')
    .where('k.id', '=', keyId)
    .select('k.issuedBy')
    .select((eb) => selectState(eb).as('state'))
    .executeTakeFirst();
}

/** When a key expires; null if it never does. */
export async function findExpiry(em: Em, keyId: string): Promise<string | null> {
  const { expiresAt } = await db(em)
    .selectFrom('api_keys')
    .where('id', '=', keyId)
    .select('expiresAt')
    .executeTakeFirstOrThrow();
  return expiresAt;
}

/** Revokes every active key of a principal; returns how many. */
export async function revokeActiveKeys(em: Em, principalId: string): Promise<number> {
  const revoked = await db(em)
    .updateTable('api_keys')
    .set({ revokedAt: sql<string>`clock_timestamp()` })
    .where('principalId', '=', principalId)
    .where('revokedAt', 'is', null)
    .where((eb) => eb.or([eb('expiresAt', 'is', null), eb('expiresAt', '>', sql<string>`clock_timestamp()`)]))
    .returning('id')
    .execute();
  return revoked.length;
}

/** The team that owns a service account; null for any other principal. */
export async function findKeyOwner(em: Em, principalId: string): Promise<string | null> {
  const account = await db(em)
    .selectFrom('service_accounts')
    .where('id', '=', principalId)
    .select('ownerTeamId as teamId')
    .executeTakeFirst();
  return account?.teamId ?? null;
}

export async function countActiveKeys(em: Em, principalId: string): Promise<number> {
  const { active } = await db(em)
    .selectFrom('api_keys')
    .where('principalId', '=', principalId)
    .where('revokedAt', 'is', null)
    .where((eb) => eb.or([eb('expiresAt', 'is', null), eb('expiresAt', '>', sql<string>`clock_timestamp()`)]))
    .select((eb) => sql<number>`${eb.fn.countAll()}::int`.as('active'))
    .executeTakeFirstOrThrow();
  return active;
}

export async function hasSuccessor(em: Em, keyId: string): Promise<boolean> {
  const found = await db(em)
    .selectFrom('api_keys')
    .where('rotatedFrom', '=', keyId)
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Revokes the profile key of a user, if there is one; returns its id. */
export function revokeProfileKey(em: Em, userId: string): Promise<{ id: string } | undefined> {
  return db(em)
    .updateTable('api_keys')
    .set({ revokedAt: sql<string>`clock_timestamp()` })
    .where('principalId', '=', userId)
    .where('kind', '=', 'profile')
    .where('revokedAt', 'is', null)
    .returning('id')
    .executeTakeFirst();
}

/** Makes a key expire after some seconds, unless it expires earlier. */
export async function expireKeyIn(em: Em, keyId: string, seconds: number): Promise<void> {
  await db(em)
    .updateTable('api_keys')
    .set((eb) => ({
      expiresAt: sql<string>`least(${eb.ref('expiresAt')}, clock_timestamp() + ${seconds} * interval '1 second')`,
    }))
    .where('id', '=', keyId)
    .execute();
}

/**
 * Records that keys were used now, if their last recorded use is more than a minute old. The rows are written in the order of
 * their ids, so that processes that record the same keys never deadlock.
 */
export async function recordUses(em: Em, keyIds: readonly string[]): Promise<void> {
  await db(em)
    .insertInto('api_key_uses')
    .columns(['keyId', 'lastUsedAt'])
    .expression((eb) =>
      eb
        .selectFrom(sql<{ id: string }>`unnest(${keyIds}::uuid[])`.as<'used'>(sql`used(id)`))
        .select(['used.id', sql<string>`now()`.as('lastUsedAt')])
        .orderBy('used.id'),
    )
    .onConflict((conflict) =>
      conflict
        .column('keyId')
        .doUpdateSet((eb) => ({ lastUsedAt: eb.ref('excluded.lastUsedAt') }))
        .where('api_key_uses.lastUsedAt', '<', sql<string>`now() - interval '1 minute'`),
    )
    .execute();
}
