import type { Em } from '#database/database.ts';
import { newId } from '#domain/shared/ids.ts';
import { PrincipalRecord, User } from '../entity.ts';
import { emailKey, type PlatformRole } from '../model.ts';

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly role: PlatformRole;
  /** Already hashed: hashing takes too long for a transaction. */
  readonly passwordHash: string;
  readonly enabled?: boolean;
}

/** Makes a user and the principal that it is. */
export async function createUser(em: Em, user: NewUser): Promise<{ principal: PrincipalRecord; user: User }> {
  const id = newId();
  const { name, role, email, passwordHash, enabled = true } = user;
  const principal = em.create(PrincipalRecord, { id, kind: 'user', name, role, enabled });
  await em.persist(principal).flush();
  const row = em.create(User, { id, email, emailKey: emailKey(email), passwordHash });
  await em.persist(row).flush();
  return { principal, user: row };
}

/** Whether anybody could act yet: an installation with users or administrators is never bootstrapped again. */
export async function hasAnyUser(em: Em): Promise<boolean> {
  const rows = await em.execute<{ exists: boolean }[]>(
    `select exists (select 1 from principals where kind in ('user', 'service_account')) as exists`,
  );
  return rows[0]?.exists ?? true;
}
