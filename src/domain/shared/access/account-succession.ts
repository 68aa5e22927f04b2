import { decidePermission } from './decide.ts';
import type { Principal } from './principal.ts';

/**
 * Whether a principal may read and transfer an account because its owner cannot act. If the user who owns the account is disabled or
 * deleted, principals that manage users may do so, because nobody else can.
 */
export function maySucceed(
  principal: Principal,
  account: { readonly ownerUserId: string | null; readonly ownerEnabled: boolean },
): boolean {
  return account.ownerUserId !== null && !account.ownerEnabled && managesUsers(principal);
}

export function managesUsers(principal: Principal): boolean {
  const access = { anyOf: ['user:manage'], scope: 'platform', hidden: 'not_found', review: 'none' } as const;
  return decidePermission(principal, access).allowed;
}
