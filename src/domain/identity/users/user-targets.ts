import type { Em } from '#database/database.ts';
import { lockClause, type RowLock } from '#database/row-lock.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { selectPage } from '#domain/shared/list.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import { emailKey, type PlatformRole } from '../model.ts';

/** A user as decisions and answers need it; never with anything of its password. */
export interface UserTarget extends Ownership {
  readonly id: string;
  readonly organizationId: null;
  readonly teamId: null;
  readonly email: string;
  readonly name: string;
  readonly role: PlatformRole;
  readonly enabled: boolean;
  readonly eligibilityGeneration: number;
  readonly revision: number;
  readonly createdAt: string;
}

const selectUsers = `
  select p.id, null as "organizationId", null as "teamId", u.email, p.name, p.role, p.enabled,
         p.eligibility_generation as "eligibilityGeneration", p.revision, p.created_at as "createdAt"
    from principals p join users u on u.id = p.id where p.deleted_at is null`;

/** A user by id. Locked for a change, nothing that they are allowed to do is used meanwhile. */
export async function findUser(em: Em, id: string, lock: RowLock = false): Promise<UserTarget | undefined> {
  const rows = await em.execute<UserTarget[]>(`${selectUsers} and p.id = ?${lockClause(['p'], lock)}`, [id]);
  return rows[0];
}

/** All users, or those of an address or a state. */
export function listUsers(
  em: Em,
  request: PageRequest & { email?: string | undefined; enabled?: 'true' | 'false' | undefined },
): Promise<Page<UserTarget>> {
  const where = new Where()
    .andIf(request.email && emailKey(request.email), 'u.email_key = ?')
    .andIf(request.enabled, 'p.enabled = ?::boolean');
  return selectPage(em, selectUsers, where, 'p.id', request);
}
