import { maySucceed } from './account-succession.ts';
import { type Access, decide, type Ownership } from './decide.ts';
import type { Principal } from './principal.ts';

/** The right to read a service account. */
export const readAccountAccess: Access = {
  anyOf: ['service_account:read'],
  scope: 'service_account',
  hidden: 'not_found',
  review: 'none',
};

/** The owner of service accounts, who decides who may read them. */
export interface AccountsOwner extends Ownership {
  readonly ownerUserId: string | null;
  /** Whether the user who owns them is enabled; true for a team's accounts. */
  readonly ownerEnabled: boolean;
}

/**
 * Whether a principal may read the service accounts of an owner. Only the owner may read a user's account, unless the owner cannot act
 * (`maySucceed`).
 */
export function mayReadAccountsOf(principal: Principal, owner: AccountsOwner): boolean {
  return decide(principal, readAccountAccess, owner).allowed || maySucceed(principal, owner);
}
