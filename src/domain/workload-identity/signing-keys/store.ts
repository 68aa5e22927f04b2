import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** A key without its private part. */
export interface SigningKeyDetails {
  readonly id: string;
  readonly keyId: string;
  readonly signsFrom: string;
  readonly createdAt: string;
}

/**
 * All keys, and the database's time, so that all processes use one clock. With `lock`, no other transaction can change the keys before the
 * commit.
 */
export async function readSigningKeys(em: Em, lock = false) {
  // A new key has no row that could be locked. The row of the installation always exists, and no transaction locks it for long.
  if (lock) await db(em).selectFrom('installation').select('id').forNoKeyUpdate().execute();
  const keys = await db(em)
    .selectFrom('signing_keys')
    .select(['id', 'keyId', 'publicKey', 'signsFrom', 'createdAt'])
    .select('sealedPrivateKey')
    .execute();
  return { keys, now: await readTime(em) };
}

async function readTime(em: Em): Promise<Date> {
  const { now } = await db(em).selectNoFrom(sql<string>`clock_timestamp()`.as('now')).executeTakeFirstOrThrow();
  return new Date(now);
}

export async function deleteSigningKeys(em: Em, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db(em).deleteFrom('signing_keys').where('id', 'in', ids).execute();
}

/** Deletes the private parts of keys that no longer sign. */
export async function forgetPrivateKeys(em: Em, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db(em).updateTable('signing_keys').set({ sealedPrivateKey: null }).where('id', 'in', ids).execute();
}
