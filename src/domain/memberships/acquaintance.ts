import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { managesUsers } from '#domain/shared/access/account-succession.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden } from '#domain/shared/errors.ts';

/**
 * The refusal of a user or service account that does not exist, or that the caller does not know. Both get the same answer, so
 * that it does not reveal which ids exist.
 */
export function unknownPrincipal(): Forbidden {
  return new Forbidden(
    'permission denied: there is no such user or service account, or you may not choose it by its id: you must share an ' +
      'organization with the user, or be able to read the service account; other users join by an invitation to their e-mail address',
  );
}

/** Whether the caller manages users, or shares an organization with this one. */
export async function knowsUser(em: Em, caller: Principal, userId: string): Promise<boolean> {
  if (managesUsers(caller) || caller.id === userId) return true;
  const shared = await db(em)
    .selectFrom('organization_members')
    .where('principalId', '=', userId)
    .where('organizationId', '=', (eb) => eb.fn.any(eb.val(Object.keys(caller.organizations))))
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return shared !== undefined;
}
