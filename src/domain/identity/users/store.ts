import type { Em } from '#database/database.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { emailKey } from '../model.ts';

/** The columns of a user that authorization and responses use, without the password. */
export type UserTarget = RowOf<typeof selectUsers>;

/** Users that are not deleted: the tables `principals` as `p` and `users` as `u`. */
function selectUsers(em: Em) {
  return db(em)
    .selectFrom('principals as p')
    .innerJoin('users as u', 'u.id', 'p.id')
    .where('p.deletedAt', 'is', null)
    .select(['p.id', 'u.email', 'u.emailVerified', 'p.name', 'p.enabled', 'p.revision', 'p.createdAt'])
    .select((eb) => [
      eb.lit(null).as('organizationId'),
      eb.lit(null).as('teamId'),
      eb.ref('p.role').$castTo<PlatformRole>().as('role'),
    ]);
}

export function findUser(em: Em, id: string): Promise<UserTarget | undefined> {
  return selectUsers(em).where('p.id', '=', id).executeTakeFirst();
}

/** A user to be changed. `lock` locks its principal: until the commit, no command uses the user's authority. */
export async function findUserToChange(em: Em, id: string, lock: boolean): Promise<UserTarget | undefined> {
  const [, user] = await Promise.all([lock && lockAgainstUse(em, id), findUser(em, id)]);
  return user;
}

export interface UserFilter {
  readonly email?: string | undefined;
  /** A text in the name or the address, ignoring case. */
  readonly q?: string | undefined;
  readonly role?: PlatformRole | undefined;
  readonly enabled?: boolean | undefined;
}

export function listUsers(
  em: Em,
  { email, q, role, enabled, ...request }: PageRequest & UserFilter,
): Promise<Page<UserTarget>> {
  const pattern = `%${(q ?? '').replace(/[\\%_]/g, '\\$&')}%`;
  const users = selectUsers(em)
    .$if(q !== undefined, (query) =>
      query.where((eb) => eb.or([eb('p.name', 'ilike', pattern), eb('u.email', 'ilike', pattern)])),
    )
    .$if(role !== undefined, (query) => query.where('p.role', '=', role ?? null))
    .$if(email !== undefined, (query) => query.where('u.emailKey', '=', emailKey(email ?? '')))
    .$if(enabled !== undefined, (query) => query.where('p.enabled', '=', enabled ?? true));
  return pageOf(users, 'p.id', request);
}

/** The enabled administrator with an e-mail address, locked for a change. */
export async function findAdministratorToChange(em: Em, email: string): Promise<UserTarget | undefined> {
  const administrators = selectUsers(em)
    .where('u.emailKey', '=', emailKey(email))
    .where('p.role', '=', 'admin')
    .where('p.enabled', '=', true);
  const known = await administrators.executeTakeFirst();
  if (!known) return undefined;
  await lockAgainstUse(em, known.id);
  return administrators.where('p.id', '=', known.id).executeTakeFirst();
}

/** The ids of the enabled administrators of the installation. */
export async function findAdministrators(em: Em): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('principals')
    .where('kind', '=', 'user')
    .where('role', '=', 'admin')
    .where('enabled', '=', true)
    .where('deletedAt', 'is', null)
    .select('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Whether any user or service account was ever created. */
export async function hasAnyPrincipal(em: Em): Promise<boolean> {
  const found = await db(em)
    .selectFrom('principals')
    .where((eb) => eb.or([eb('kind', '=', 'user'), eb('kind', '=', 'service_account')]))
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Whether another enabled principal administers the installation: a user, or a service account whose owner is not deleted. */
export async function hasOtherAdministrator(em: Em, id: string): Promise<boolean> {
  const found = await db(em)
    .selectFrom('principals as p')
    .where('p.role', '=', 'admin')
    .where('p.enabled', '=', true)
    .where('p.deletedAt', 'is', null)
    .where('p.id', '<>', id)
    .where((eb) =>
      eb.or([
        eb('p.kind', '=', 'user'),
        eb.and([
          eb('p.kind', '=', 'service_account'),
          eb.exists(
            eb
              .selectFrom('service_accounts as a')
              .leftJoin('principals as u', (join) =>
                join.onRef('u.id', '=', 'a.ownerUserId').on('u.deletedAt', 'is', null),
              )
              .leftJoin('teams as t', (join) => join.onRef('t.id', '=', 'a.ownerTeamId').on('t.deletedAt', 'is', null))
              .whereRef('a.id', '=', 'p.id')
              .where((owner) => owner.or([owner('u.id', 'is not', null), owner('t.id', 'is not', null)]))
              .select('a.id'),
          ),
        ]),
      ]),
    )
    .select('p.id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
