import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { withAccountFacts } from '#domain/service-accounts/account-facts.ts';
import type { AccountTarget } from '#domain/service-accounts/store.ts';
import { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { accountActions } from './actions.ts';

const fields = {
  id: AnswerId,
  name: z.string(),
  role: PlatformRole,
  enabled: z.boolean(),
  owner: z.object({ user_id: AnswerId.nullable(), team_id: AnswerId.nullable() }).describe('One of the two.'),
  created_by: z.string(),
  revision: z.int(),
  created_at: Time,
};

/** A service account in a list. */
export const ListedServiceAccountView = z.object(fields).meta({ id: 'ListedServiceAccount' });

/** A service account in every answer about one account. */
export const ServiceAccountView = z.object({ ...fields, actions: accountActions.view }).meta({ id: 'ServiceAccount' });

export function viewServiceAccount(account: AccountTarget) {
  return answerOf(ListedServiceAccountView.shape, { ...account, owner: viewOwner(account) });
}

/** Shows one account with the actions that the caller may take. */
export async function showServiceAccount(em: Em, context: ActionContext, account: AccountTarget) {
  const actions = accountActions.describe(context, await withAccountFacts(em, account));
  return { ...viewServiceAccount(account), actions };
}

export function viewOwner({ ownerUserId, teamId }: Pick<AccountTarget, 'ownerUserId' | 'teamId'>) {
  return { user_id: ownerUserId, team_id: teamId };
}
