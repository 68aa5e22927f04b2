import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { EmailConfirmation } from '../entity.ts';

export interface NewEmailConfirmation {
  readonly userId: string;
  readonly emailKey: string;
  readonly verifier: Buffer;
  readonly issuedBy: string;
  readonly expiresAt: Date;
}

/** Stores the token by which a user confirms an address, in place of an earlier one. */
export async function putConfirmation(em: Em, confirmation: NewEmailConfirmation): Promise<void> {
  await em.upsert(EmailConfirmation, { ...confirmation, createdAt: new Date() }, { onConflictFields: ['userId'] });
}

/** Whether a token confirms the address that the user has now. */
export async function isConfirmedBy(em: Em, userId: string, verifier: Buffer): Promise<boolean> {
  const found = await db(em)
    .selectFrom('email_confirmations as c')
    .innerJoin('users as u', (join) => join.onRef('u.id', '=', 'c.userId').onRef('u.emailKey', '=', 'c.emailKey'))
    .where('c.userId', '=', userId)
    .where('c.verifier', '=', verifier)
    .where('c.expiresAt', '>', sql<string>`clock_timestamp()`)
    .select('c.userId')
    .executeTakeFirst();
  return found !== undefined;
}

export async function deleteConfirmation(em: Em, userId: string): Promise<void> {
  await db(em).deleteFrom('email_confirmations').where('userId', '=', userId).execute();
}

/** Whether the address of a user is confirmed. */
export async function hasVerifiedEmail(em: Em, userId: string): Promise<boolean> {
  const found = await db(em)
    .selectFrom('users')
    .where('id', '=', userId)
    .where('emailVerified', '=', true)
    .select('id')
    .executeTakeFirst();
  return found !== undefined;
}

export async function deleteOldConfirmations(em: Em, retentionDays: number): Promise<void> {
  await db(em)
    .deleteFrom('email_confirmations')
    .where('expiresAt', '<', sql<string>`now() - make_interval(days => ${retentionDays})`)
    .execute();
}
