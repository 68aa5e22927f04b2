import type { Em } from '#database/database.ts';
import { isLastAdministrator } from '#domain/identity/users/administrators.ts';
import { type AccountTarget, findTeamsOf, type TeamOfAccount } from './store.ts';

/** A service account with the facts for the rules about its actions. */
export interface AccountWithFacts extends AccountTarget {
  readonly isLastAdministrator: boolean;
  /** The teams that it is a member of, besides the team that may own it. */
  readonly memberOf: readonly TeamOfAccount[];
}

export async function withAccountFacts(em: Em, account: AccountTarget): Promise<AccountWithFacts> {
  const isLast = await isLastAdministrator(em, account);
  return { ...account, isLastAdministrator: isLast, memberOf: await findTeamsOf(em, account.id) };
}
