import { createHash, randomBytes } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { Conflict, WrongSecret } from '#domain/shared/errors.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { withinBound } from '../api-keys/bounds.ts';
import { PrincipalRecord, User } from '../entity.ts';
import { emailKey } from '../model.ts';
import { findUser, type UserTarget } from '../users/store.ts';
import { refuseRoleAboveOwn } from '../users/user-changes.ts';
import { deleteConfirmation, isConfirmedBy, putConfirmation } from './store.ts';

/** How long a token is valid: long enough to read the message, short enough that a forgotten one does no harm. */
const lifetimeMs = 3 * 24 * 60 * 60 * 1000;

/** The audit action of confirming an address. */
export const emailConfirmed = { action: 'user.email_confirmed', resourceType: 'users' } as const;

export interface IssuedConfirmation {
  /** Returned only here: the database stores a verifier. */
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Confirms the address of a user whose row is locked. `email` is the address that the caller has checked, if the request names it.
 * @throws Conflict if that is no longer the user's address
 */
export async function confirmEmail(
  em: Em,
  caller: Principal,
  user: UserTarget,
  email: string | undefined,
): Promise<UserTarget> {
  refuseRoleAboveOwn(caller, user.role);
  if (email !== undefined && emailKey(email) !== emailKey(user.email))
    throw new Conflict('email: the user has another address now: read the user again', 'stale_revision');
  return user.emailVerified ? user : markVerified(em, user.id);
}

/**
 * Creates the token with which a user confirms their address; an earlier one becomes void. The caller has locked the user's row. Send the
 * token only to that address, because anybody who has it can confirm the address for this user.
 * @throws Conflict if the address is confirmed already
 */
export async function issueConfirmation(em: Em, caller: Principal, user: UserTarget): Promise<IssuedConfirmation> {
  refuseRoleAboveOwn(caller, user.role);
  throwIfRefused(findConfirmationRefusal(user));
  const token = randomBytes(32).toString('base64url');
  const expiresAt = await withinBound(em, caller, new Date(Date.now() + lifetimeMs));
  const key = emailKey(user.email);
  await putConfirmation(em, {
    userId: user.id,
    emailKey: key,
    verifier: verifierOf(token),
    issuedBy: caller.id,
    expiresAt,
  });
  return { token, expiresAt };
}

/** A confirmed address needs no token. */
export function findConfirmationRefusal({ emailVerified }: Pick<UserTarget, 'emailVerified'>): Refusal | null {
  if (!emailVerified) return null;
  return { code: 'email_confirmed', message: 'the address of this user is confirmed already' };
}

/**
 * Confirms the caller's own address, and consumes the token.
 * @throws WrongSecret for a token that is unknown, used, expired, replaced, or was made for another user or address
 */
export async function redeemConfirmation(em: Em, caller: Principal, token: string): Promise<UserTarget> {
  await lockAgainstUse(em, caller.id);
  if (await isConfirmedBy(em, caller.id, verifierOf(token))) return markVerified(em, caller.id);
  const message = 'token: it does not confirm your address: it was used, has expired, or is for another address';
  throw new WrongSecret('invalid', message);
}

async function markVerified(em: Em, userId: string): Promise<UserTarget> {
  await deleteConfirmation(em, userId);
  (await readForChange(em, User, { id: userId })).emailVerified = true;
  (await readForChange(em, PrincipalRecord, { id: userId })).change({});
  await em.flush();
  return readBack(findUser(em, userId));
}

function verifierOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
