import type { Em } from '#database/database.ts';
import { newId } from '#domain/shared/ids.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { PrincipalRecord, User } from '../entity.ts';
import { emailKey } from '../model.ts';

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly role: PlatformRole;
  /** Already hashed, because hashing takes too long for a transaction. */
  readonly passwordHash: string;
  readonly enabled?: boolean;
}

/** Creates a user and the principal record with the same id. */
export async function createUser(em: Em, user: NewUser): Promise<{ principal: PrincipalRecord; user: User }> {
  const id = newId();
  const { name, role, email, passwordHash, enabled = true } = user;
  const principal = em.create(PrincipalRecord, { id, kind: 'user', name, role, enabled });
  await em.persist(principal).flush();
  const row = em.create(User, { id, email, emailKey: emailKey(email), passwordHash });
  await em.persist(row).flush();
  return { principal, user: row };
}
