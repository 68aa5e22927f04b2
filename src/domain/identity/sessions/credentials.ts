import type { Em } from '#database/database.ts';
import { deletePasswordReset, replacePassword } from '../passwords/store.ts';
import { endSessions } from './store.ts';

/** Replaces a user's password, and ends all sessions and the reset link of the earlier one. The user's row is locked. */
export async function setPassword(em: Em, userId: string, passwordHash: string): Promise<void> {
  await replacePassword(em, userId, passwordHash);
  await endSignIns(em, userId);
}

/** Ends the sessions of a user and voids their password reset link. The user's row is locked. */
export async function endSignIns(em: Em, userId: string): Promise<void> {
  await Promise.all([endSessions(em, userId), deletePasswordReset(em, userId)]);
}
