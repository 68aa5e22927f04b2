import type { z } from 'zod';
import type { ApiKeyDetailsView } from '#api/identity/key-actions.ts';
import { viewApiKey } from '#api/identity/views.ts';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import type { Em } from '#database/database.ts';
import {
  findRevocationRefusal,
  findRotationRefusal,
  type KeyWithFacts,
  withKeyFacts,
} from '#domain/identity/api-keys/actions.ts';
import type { ApiKeyDetails } from '#domain/identity/api-keys/store.ts';
import { type AccountWithFacts, withAccountFacts } from '#domain/service-accounts/account-facts.ts';
import type { AccountTarget } from '#domain/service-accounts/store.ts';
import { findIssuingRefusal } from './actions.ts';

/** A service account, and one of its keys. */
interface AccountKey extends AccountWithFacts {
  readonly key: KeyWithFacts;
}

/** What a caller may do with a key of a service account. */
const accountKeyActions = actionsOf<AccountKey>()({
  rotate: {
    operation: 'service_account_keys.rotate',
    findRefusal: (account, caller) => findIssuingRefusal(account, caller) ?? findRotationRefusal(account.key),
  },
  revoke: { operation: 'service_account_keys.revoke', findRefusal: ({ key }) => findRevocationRefusal(key) },
});

/** Shows a key of a service account with the actions that the caller may take. */
export async function showAccountKey(
  em: Em,
  context: ActionContext,
  account: AccountTarget,
  key: ApiKeyDetails,
): Promise<z.input<typeof ApiKeyDetailsView>> {
  const target = { ...(await withAccountFacts(em, account)), key: await withKeyFacts(em, key) };
  return { ...viewApiKey(key), actions: accountKeyActions.describe(context, target) };
}
