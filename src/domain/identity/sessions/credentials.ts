import type { Em } from '#database/database.ts';

/** What ends with what. Whoever calls one of these holds the user's row for a change. */

/** Another password: all sessions end, whoever opened them, and so does a link to reset the one before. */
export async function setPassword(em: Em, userId: string, passwordHash: string): Promise<void> {
  await em.execute(
    `update users set password_hash = ?, password_generation = password_generation + 1 where id = ? returning id`,
    [passwordHash, userId],
  );
  await endSignIns(em, userId);
}

/** Ends the sessions of a user and voids the link by which they might set a new password. */
export async function endSignIns(em: Em, userId: string): Promise<void> {
  await Promise.all([
    em.execute(
      `update sessions set revoked_at = clock_timestamp() where user_id = ? and revoked_at is null and expires_at > now()`,
      [userId],
    ),
    em.execute(`delete from password_resets where user_id = ?`, [userId]),
  ]);
}

/** Frees the address of a user who is deleted, and forgets the password. */
export async function clearSignIn(em: Em, userId: string): Promise<void> {
  await em.execute(`update users set email_key = null, password_hash = '' where id = ?`, [userId]);
}
