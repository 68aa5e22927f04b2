import type { Em } from '#database/database.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden, Unauthenticated, WrongSecret } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import type { Session } from '../entity.ts';
import { type EndedCredentials, type NewPassword, setPassword } from '../sessions/credentials.ts';
import { addSession, type SessionFacts } from '../sessions/sessions.ts';
import { verifyPassword } from './passwords.ts';
import { findPassword } from './store.ts';

/**
 * Verifies that the caller knows their own password; returns the password's generation.
 * @throws Forbidden for a caller with an API key; WrongSecret for a wrong password
 */
export async function verifyOwnPassword(em: Em, { id, credential }: Principal, password: string): Promise<number> {
  if (credential.type !== 'session') throw new Forbidden('permission denied: sign in to change your password');
  const current = await findPassword(em, id);
  const matches = await verifyPassword(current?.hash ?? null, password);
  if (!current || !matches) throw new WrongSecret('invalid', 'current_password: this is not your password');
  return current.generation;
}

/**
 * Replaces the caller's password. All their sessions end, and a new one is opened.
 * @throws Unauthenticated if the password was changed since it was verified
 */
export async function changeOwnPassword(
  em: Em,
  { id }: Principal,
  { generation, password }: { generation: number; password: NewPassword },
  facts: SessionFacts,
): Promise<EndedCredentials & { session: Session }> {
  await lockAgainstUse(em, id);
  const current = await findPassword(em, id);
  if (current?.generation !== generation) throw new Unauthenticated('the credential is no longer valid');
  const ended = await setPassword(em, id, password);
  return { ...ended, session: await addSession(em, newId(), id, facts) };
}
