import { createHash, randomBytes } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import { anonymous, type Principal, toPrincipal } from '#domain/shared/access/principal.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { WrongSecret } from '#domain/shared/errors.ts';
import { refuseOutliving } from '../api-keys/bounds.ts';
import { type EndedCredentials, type NewPassword, setPassword } from '../sessions/credentials.ts';
import type { UserTarget } from '../users/store.ts';
import { refuseOwnPassword, refuseRoleAboveOwn } from '../users/user-changes.ts';
import { findUserByPasswordReset, putPasswordReset } from './store.ts';

/** How long a link is valid: long enough to reach its user, short enough that a forgotten link does no harm. */
const lifetimeMs = 24 * 60 * 60 * 1000;

/** The audit action of setting a new password without the old one. */
export const passwordReset = { action: 'user.password_reset', resourceType: 'users' } as const;

export interface IssuedReset {
  /** Returned only here: the database stores a verifier. */
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Creates the link with which a user may set a new password; an earlier link becomes void. The user's row is locked.
 * @throws Invalid for the caller's own user; Forbidden for a role above the caller's own, and for a caller whose key expires;
 * Conflict for a disabled user
 */
export async function issuePasswordReset(em: Em, caller: Principal, user: UserTarget): Promise<IssuedReset> {
  refuseOwnPassword(caller, user);
  refuseRoleAboveOwn(caller, user.role);
  await refuseOutliving(em, caller, 'password reset link', null);
  throwIfRefused(findResetRefusal(user));
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + lifetimeMs);
  await putPasswordReset(em, { userId: user.id, verifier: verifierOf(token), issuedBy: caller.id, expiresAt });
  return { token, expiresAt };
}

/** The refusal of a reset for a disabled user; null for an enabled one. */
export function findResetRefusal({ enabled }: Pick<UserTarget, 'enabled'>): Refusal | null {
  if (enabled) return null;
  return { code: 'user_disabled', message: 'this user is disabled: enable them before they get a new password' };
}

/** The user whose password the token of a link sets. @throws WrongSecret for an unknown, used, expired or replaced token */
export async function findPasswordReset(em: Em, token: string): Promise<Principal & { readonly email: string }> {
  const user = await findUserByPasswordReset(em, verifierOf(token));
  if (!user)
    throw new WrongSecret('invalid', 'token: this link is not valid: it was used, has expired, or another replaced it');
  return { ...toPrincipal(user, anonymous.credential), email: user.email };
}

/** Sets the password and consumes the link. @throws WrongSecret also if the link was used in the meantime */
export async function redeemPasswordReset(
  em: Em,
  user: Principal,
  token: string,
  password: NewPassword,
): Promise<EndedCredentials> {
  await lockAgainstUse(em, user.id);
  await findPasswordReset(em, token);
  return setPassword(em, user.id, password);
}

function verifierOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
