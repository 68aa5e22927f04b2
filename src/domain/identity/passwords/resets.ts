import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { anonymous, type Principal, toPrincipal } from '#domain/shared/access/principal.ts';
import { lockAgainstUse, selectPrincipal } from '#domain/shared/access/store.ts';
import { Conflict, WrongSecret } from '#domain/shared/errors.ts';
import { setPassword } from '../sessions/credentials.ts';
import { refuseOwnPassword, refuseRoleAboveOwn } from '../users/user-changes.ts';
import type { UserTarget } from '../users/user-targets.ts';

/** Long enough to reach somebody by whatever way, short enough to be forgotten safely. */
const lifetimeMs = 24 * 60 * 60 * 1000;

/** What history says where somebody has set a new password without the old one. */
export const passwordReset = { action: 'user.password_reset', resourceType: 'users' } as const;

export interface IssuedReset {
  /** Told once; what is kept is a verifier. */
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Makes the one link by which a user, whose row the caller of this function holds, may set a new password; a link from
 * before is void. @throws Invalid for oneself, Forbidden for a role above one's own, Conflict for a disabled user
 */
export async function issuePasswordReset(em: Em, caller: Principal, user: UserTarget): Promise<IssuedReset> {
  refuseOwnPassword(caller, user);
  refuseRoleAboveOwn(caller, user.role);
  if (!user.enabled) throw new Conflict('this user is disabled: enable them before they get a new password');
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + lifetimeMs);
  await em.execute(
    `insert into password_resets (user_id, verifier, issued_by, created_at, expires_at)
     values (?, ?, ?, clock_timestamp(), ?)
     on conflict (user_id) do update set verifier = excluded.verifier, issued_by = excluded.issued_by,
       created_at = excluded.created_at, expires_at = excluded.expires_at`,
    [user.id, verifierOf(token), caller.id, expiresAt],
  );
  return { token, expiresAt };
}

/** Whose new password a link's token sets. @throws WrongSecret where it is none, was used, or is void by now */
export async function findPasswordReset(em: Em, token: string): Promise<Principal & { readonly email: string }> {
  const [row] = await db(em)
    .selectFrom('password_resets as r')
    .innerJoin('principals as p', 'p.id', 'r.user_id')
    .innerJoin('users as u', 'u.id', 'p.id')
    .where('r.verifier', '=', verifierOf(token))
    .where('r.expires_at', '>', sql<string>`clock_timestamp()`)
    .where('p.enabled', '=', true)
    .where('p.deleted_at', 'is', null)
    .select(selectPrincipal)
    .select('u.email')
    .execute();
  if (!row)
    throw new WrongSecret('invalid', 'token: this link is not valid: it was used, has expired, or another replaced it');
  return { ...toPrincipal(row, anonymous.credential), email: row.email };
}

/** Sets the password, once: whoever comes second with the same link finds it gone. @throws WrongSecret */
export async function redeemPasswordReset(em: Em, user: Principal, token: string, passwordHash: string): Promise<void> {
  await lockAgainstUse(em, user.id);
  await findPasswordReset(em, token);
  await setPassword(em, user.id, passwordHash);
}

function verifierOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
