import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import type { PrincipalSnapshot } from '#domain/shared/access/principal.ts';
import { selectPrincipal } from '#domain/shared/access/store.ts';
import { platformRoles } from '#domain/shared/vocabulary/roles.ts';
import { PasswordReset } from '../entity.ts';

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
    .select(['passwordHash as hash', 'passwordGeneration as generation'])
    .executeTakeFirst();
}

export interface NewPasswordReset {
  readonly userId: string;
  readonly verifier: Buffer;
  readonly issuedBy: string;
  readonly expiresAt: Date;
}

/** Stores the password reset link of a user, in place of an earlier one. */
export async function putPasswordReset(em: Em, reset: NewPasswordReset): Promise<void> {
  await em.upsert(PasswordReset, { ...reset, createdAt: new Date() }, { onConflictFields: ['userId'] });
}

/**
 * The enabled user of a valid password reset link. The link is valid only while its issuer may still manage users, because a dismissed
 * administrator has seen the tokens of the links.
 */
export function findUserByPasswordReset(
  em: Em,
  verifier: Buffer,
): Promise<(PrincipalSnapshot & { email: string }) | undefined> {
  return db(em)
    .selectFrom('password_resets as r')
    .innerJoin('principals as p', 'p.id', 'r.userId')
    .innerJoin('users as u', 'u.id', 'p.id')
    .innerJoin('principals as i', 'i.id', 'r.issuedBy')
    .where('r.verifier', '=', verifier)
    .where('i.enabled', '=', true)
    .where('i.deletedAt', 'is', null)
    .where('i.role', 'in', userManagers)
    .where('r.expiresAt', '>', sql<string>`clock_timestamp()`)
    .where('p.enabled', '=', true)
    .where('p.deletedAt', 'is', null)
    .select(selectPrincipal)
    .select('u.email')
    .executeTakeFirst();
}

export async function deletePasswordReset(em: Em, userId: string): Promise<void> {
  await db(em).deleteFrom('password_resets').where('userId', '=', userId).execute();
}

export async function deleteOldPasswordResets(em: Em, retentionDays: number): Promise<void> {
  await db(em)
    .deleteFrom('password_resets')
    .where('expiresAt', '<', sql<string>`now() - make_interval(days => ${retentionDays})`)
    .execute();
}
