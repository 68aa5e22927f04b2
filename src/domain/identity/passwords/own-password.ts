import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { lockAgainstUse } from '#domain/shared/access/store.ts';
import { Forbidden, Unauthenticated, WrongSecret } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import type { Session } from '../entity.ts';
import { setPassword } from '../sessions/credentials.ts';
import { addSession, type SessionFacts } from '../sessions/sessions.ts';
import { verifyPassword } from './passwords.ts';

interface PasswordRow {
  password_hash: string;
  password_generation: number;
}

/** Held while somebody changes their own password: who asks twice at once would wait for themselves. */
export function passwordLock(userId: string): string {
  return `password/${userId}`;
}

/**
 * Whether somebody knows their own password; answers which of their passwords it is.
 * @throws Forbidden where they come by an API key, WrongSecret where the password is another
 */
export async function verifyOwnPassword(em: Em, { id, credential }: Principal, password: string): Promise<number> {
  if (credential.type !== 'session') throw new Forbidden('permission denied: sign in to change your password');
  const [row] = await em.execute<PasswordRow[]>(`select password_hash, password_generation from users where id = ?`, [
    id,
  ]);
  const matches = await verifyPassword(row?.password_hash ?? null, password);
  if (!row || !matches) throw new WrongSecret('invalid', 'current_password: this is not your password');
  return row.password_generation;
}

/**
 * Gives somebody the password that they chose. All their sessions end, and they go on in a new one.
 * @throws Unauthenticated where their password was changed meanwhile by somebody else
 */
export async function changeOwnPassword(
  em: Em,
  { id }: Principal,
  { generation, passwordHash }: { generation: number; passwordHash: string },
  facts: SessionFacts,
): Promise<Session> {
  await lockAgainstUse(em, id);
  const [row] = await em.execute<PasswordRow[]>(`select password_generation from users where id = ?`, [id]);
  if (row?.password_generation !== generation) throw new Unauthenticated('the credential is no longer valid');
  await setPassword(em, id, passwordHash);
  return addSession(em, newId(), id, facts);
}
