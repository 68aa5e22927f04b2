import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { revokeActiveKeys } from '../api-keys/store.ts';
import { User } from '../entity.ts';
import { deletePasswordReset } from '../passwords/store.ts';
import { endSessions } from './store.ts';

/** The hash of a new password, and whether the user's API keys are revoked with the earlier one. */
export interface NewPassword {
  readonly hash: string;
  readonly revokesKeys: boolean;
}

/** What a new password revoked besides sessions. */
export interface EndedCredentials {
  readonly revokedApiKeys: number;
}

/**
 * Replaces a user's password, and ends all sessions and the reset link of the earlier one, and the API keys if requested. The user's row is
 * locked.
 */
export async function setPassword(em: Em, userId: string, password: NewPassword): Promise<EndedCredentials> {
  (await readForChange(em, User, { id: userId })).changePassword(password.hash);
  await em.flush();
  await endSignIns(em, userId);
  return { revokedApiKeys: password.revokesKeys ? await revokeActiveKeys(em, userId) : 0 };
}

/** Ends the sessions of a user and voids their password reset link. The user's row is locked. */
export async function endSignIns(em: Em, userId: string): Promise<void> {
  await Promise.all([endSessions(em, userId), deletePasswordReset(em, userId)]);
}
