import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { mayReadAccountsOf } from '#domain/service-accounts/policy.ts';
import { findAccount } from '#domain/service-accounts/store.ts';
import { managesUsers } from '#domain/service-accounts/succession.ts';
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

/** Whether the caller may make a user or service account a member without an invitation. */
export async function mayName(
  em: Em,
  caller: Principal,
  { id, kind }: Pick<Principal, 'id' | 'kind'>,
): Promise<boolean> {
  if (kind === 'user') return knowsUser(em, caller, id);
  const account = await findAccount(em, id);
  return account !== undefined && mayReadAccountsOf(caller, account);
}

/** Whether the caller manages users, or shares an organization with this one. */
export async function knowsUser(em: Em, caller: Principal, userId: string): Promise<boolean> {
  if (managesUsers(caller) || caller.id === userId) return true;
  const shared = await db(em)
    .selectFrom('organization_members')
    .where('principal_id', '=', userId)
    .where('organization_id', '=', (eb) => eb.fn.any(eb.val(Object.keys(caller.organizations))))
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return shared !== undefined;
}
