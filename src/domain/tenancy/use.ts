import type { Em } from '#database/database.ts';
import { mayReadAccountsOf } from '#domain/shared/access/account-access.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { TenantLevel } from '#domain/shared/archiving.ts';
import type { ShowsNames } from '#domain/shared/ownership-graph/blockers.ts';
import { findUse, type Used } from '#domain/shared/ownership-graph/blockers.ts';

/** A caller who may delete a team may read everything in it, except that only its owners may read its service accounts. */
export function namesShownTo(principal: Principal, { organizationId, teamId }: Ownership): ShowsNames {
  const accounts = { organizationId, teamId, ownerUserId: null, ownerEnabled: true };
  return (kind) => kind !== 'service_account' || mayReadAccountsOf(principal, accounts);
}

/** Adds the reasons why an organization, a team, a project or an environment cannot be archived or deleted now. */
export async function withUse<Target extends Ownership & { readonly id: string }>(
  em: Em,
  principal: Principal,
  level: TenantLevel,
  target: Target,
): Promise<Target & Used> {
  return { ...target, ...(await findUse(em, level, target.id, { showsNames: namesShownTo(principal, target) })) };
}
