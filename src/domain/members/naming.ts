import type { Em } from '#database/database.ts';
import { knowsUser } from '#domain/memberships/acquaintance.ts';
import { findAccount } from '#domain/service-accounts/store.ts';
import { mayReadAccountsOf } from '#domain/shared/access/account-access.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

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
