import { actionsOf, type RuleAgainst } from '#api/pipeline/actions.ts';
import { findLastAdministratorRefusal } from '#domain/identity/users/administrators.ts';
import type { AccountWithFacts } from '#domain/service-accounts/account-facts.ts';
import { findBeyondOwn } from '#domain/service-accounts/authority.ts';
import { onItself } from '#domain/service-accounts/changes.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** What a caller may do with a service account. */
export const accountActions = actionsOf<AccountWithFacts>()({
  update: { operation: 'service_accounts.update', findRefusal: findArchivedRefusal },
  change_role: {
    operation: 'service_accounts.update',
    findRefusal: (account, caller) =>
      findOnItself(account, caller) ?? findArchivedRefusal(account) ?? findLastAdministratorRefusal(account),
  },
  enable: {
    operation: 'service_accounts.enable',
    findRefusal: (account, caller) =>
      findOnItself(account, caller) ??
      (account.enabled ? null : (findBeyond(account, caller) ?? findArchivedRefusal(account))),
  },
  disable: {
    operation: 'service_accounts.disable',
    findRefusal: (account, caller) => findOnItself(account, caller) ?? findLastAdministratorRefusal(account),
  },
  transfer: { operation: 'service_accounts.transfer', findRefusal: findOnItself },
  delete: {
    operation: 'service_accounts.delete',
    findRefusal: (account, caller) => findOnItself(account, caller) ?? findLastAdministratorRefusal(account),
  },
  create_key: {
    operation: 'service_account_keys.create',
    findRefusal: findIssuingRefusal,
  },
  revoke_key: { operation: 'service_account_keys.revoke' },
});

/** Why the rules of the account refuse a new key; null if they allow it. */
export function findIssuingRefusal(account: AccountWithFacts, caller: Principal): RuleAgainst {
  return findBeyond(account, caller) ?? findArchivedRefusal(account);
}

function findOnItself({ id }: AccountWithFacts, caller: Principal): RuleAgainst {
  return caller.id === id ? { message: onItself } : null;
}

function findBeyond({ role, memberOf }: AccountWithFacts, caller: Principal): RuleAgainst {
  const message = findBeyondOwn(caller, role, memberOf);
  return message === null ? null : { message };
}
