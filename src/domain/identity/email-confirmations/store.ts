import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

export interface NewEmailConfirmation {
  readonly userId: string;
  readonly emailKey: string;
  readonly verifier: Buffer;
  readonly issuedBy: string;
  readonly expiresAt: Date;
}

/** Stores the token by which a user confirms an address, in place of an earlier one. */
export async function putConfirmation(em: Em, confirmation: NewEmailConfirmation): Promise<void> {
  const { userId, emailKey, verifier, issuedBy, expiresAt } = confirmation;
  const fields = {
    email_key: emailKey,
    verifier,
    issued_by: issuedBy,
    created_at: sql<string>`clock_timestamp()`,
    expires_at: expiresAt,
  };
  await db(em)
    .insertInto('email_confirmations')
    .values({ user_id: userId, ...fields })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(fields))
    .execute();
}

/** Whether a token confirms the address that the user has now. */
export async function isConfirmedBy(em: Em, userId: string, verifier: Buffer): Promise<boolean> {
  const found = await db(em)
    .selectFrom('email_confirmations as c')
    .innerJoin('users as u', (join) => join.onRef('u.id', '=', 'c.user_id').onRef('u.email_key', '=', 'c.email_key'))
    .where('c.user_id', '=', userId)
    .where('c.verifier', '=', verifier)
    .where('c.expires_at', '>', sql<string>`clock_timestamp()`)
    .select('c.user_id')
    .executeTakeFirst();
  return found !== undefined;
}

export async function deleteConfirmation(em: Em, userId: string): Promise<void> {
  await db(em).deleteFrom('email_confirmations').where('user_id', '=', userId).execute();
}

/** Whether the address of a user is confirmed. */
export async function hasVerifiedEmail(em: Em, userId: string): Promise<boolean> {
  const found = await db(em)
    .selectFrom('users')
    .where('id', '=', userId)
    .where('email_verified', '=', true)
    .select('id')
    .executeTakeFirst();
  return found !== undefined;
}

export async function deleteOldConfirmations(em: Em, retentionDays: number): Promise<void> {
  await db(em)
    .deleteFrom('email_confirmations')
    .where('expires_at', '<', sql<string>`now() - make_interval(days => ${retentionDays})`)
    .execute();
}
