import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import type { PrincipalSnapshot } from '#domain/shared/access/principal.ts';
import { selectPrincipal } from '#domain/shared/access/store.ts';
import { platformRoles } from '#domain/shared/vocabulary/roles.ts';

const userManagers = platformRoles.filter((role) => rolePermissions[role].has('user:manage'));

export interface PasswordRecord {
  readonly hash: string;
  /** Raised by every change of the password. */
  readonly generation: number;
}

export function findPassword(em: Em, userId: string): Promise<PasswordRecord | undefined> {
  return db(em)
    .selectFrom('users')
    .where('id', '=', userId)
    .select(['password_hash as hash', 'password_generation as generation'])
    .executeTakeFirst();
}

/** Stores the hash of another password. */
export async function replacePassword(em: Em, userId: string, hash: string): Promise<void> {
  await db(em)
    .updateTable('users')
    .set((eb) => ({ password_hash: hash, password_generation: eb('password_generation', '+', 1) }))
    .where('id', '=', userId)
    .execute();
}

/** Stores a new hash of the same password. */
export async function rehashPassword(em: Em, userId: string, hash: string): Promise<void> {
  await db(em).updateTable('users').set({ password_hash: hash }).where('id', '=', userId).execute();
}

/** Frees the address of a deleted user and removes the password. */
export async function clearSignIn(em: Em, userId: string): Promise<void> {
  await db(em).updateTable('users').set({ email_key: null, password_hash: '' }).where('id', '=', userId).execute();
}

export interface NewPasswordReset {
  readonly userId: string;
  readonly verifier: Buffer;
  readonly issuedBy: string;
  readonly expiresAt: Date;
}

/** Stores the password reset link of a user, in place of an earlier one. */
export async function putPasswordReset(em: Em, reset: NewPasswordReset): Promise<void> {
  await db(em)
    .insertInto('password_resets')
    .values({
      user_id: reset.userId,
      verifier: reset.verifier,
      issued_by: reset.issuedBy,
      created_at: sql<string>`clock_timestamp()`,
      expires_at: reset.expiresAt,
    })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet((eb) => ({
        verifier: eb.ref('excluded.verifier'),
        issued_by: eb.ref('excluded.issued_by'),
        created_at: eb.ref('excluded.created_at'),
        expires_at: eb.ref('excluded.expires_at'),
      })),
    )
    .execute();
}

/**
 * The enabled user of a valid password reset link. It counts while whoever issued it may still manage users: an administrator who is dismissed has seen the
 * token of each link.
 */
export function findUserByPasswordReset(
  em: Em,
  verifier: Buffer,
): Promise<(PrincipalSnapshot & { email: string }) | undefined> {
  return db(em)
    .selectFrom('password_resets as r')
    .innerJoin('principals as p', 'p.id', 'r.user_id')
    .innerJoin('users as u', 'u.id', 'p.id')
    .innerJoin('principals as i', 'i.id', 'r.issued_by')
    .where('r.verifier', '=', verifier)
    .where('i.enabled', '=', true)
    .where('i.deleted_at', 'is', null)
    .where('i.role', 'in', userManagers)
    .where('r.expires_at', '>', sql<string>`clock_timestamp()`)
    .where('p.enabled', '=', true)
    .where('p.deleted_at', 'is', null)
    .select(selectPrincipal)
    .select('u.email')
    .executeTakeFirst();
}

export async function deletePasswordReset(em: Em, userId: string): Promise<void> {
  await db(em).deleteFrom('password_resets').where('user_id', '=', userId).execute();
}

export async function deleteOldPasswordResets(em: Em, retentionDays: number): Promise<void> {
  await db(em)
    .deleteFrom('password_resets')
    .where('expires_at', '<', sql<string>`now() - make_interval(days => ${retentionDays})`)
    .execute();
}
