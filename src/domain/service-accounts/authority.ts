import type { Em } from '#database/database.ts';
import { findRoleAboveOwn } from '#domain/identity/users/user-changes.ts';
import { isPlatformAdministrator, teamActionsOf } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { teamRoleActions, teamRoleOfAccount } from '#domain/shared/vocabulary/roles.ts';
import { findTeamsOf, type TeamOfAccount } from './store.ts';

/**
 * Refuses a caller who would get authority through an account beyond their own: by its platform role, or by the role that this gives the
 * account in a team of which it is a member. The account's row is locked, so its memberships cannot change. The team that owns an account
 * is not checked, because its owners may do everything there.
 * @param role the account's new role, if it changes
 * @throws Forbidden
 */
export async function refuseBeyondOwn(
  em: Em,
  caller: Principal,
  account: { readonly id: string; readonly role: PlatformRole },
  role: PlatformRole = account.role,
): Promise<void> {
  if (isPlatformAdministrator(caller)) return;
  const message = findBeyondOwn(caller, role, await findTeamsOf(em, account.id));
  if (message !== null) throw new Forbidden(message);
}

/** The message of that refusal; null if the account has no more authority than the caller. @param memberOf the account's teams */
export function findBeyondOwn(
  caller: Principal,
  role: PlatformRole,
  memberOf: readonly TeamOfAccount[],
): string | null {
  if (isPlatformAdministrator(caller)) return null;
  const teamRole = teamRoleOfAccount[role];
  const above = memberOf.find(({ id, organizationId }) => {
    const own = teamActionsOf(caller, organizationId, id);
    return !teamRoleActions[teamRole].every((action) => own.has(action));
  });
  const inTeam =
    above &&
    `permission denied: the service account would be ${teamRole} of the team "${above.slug}", with more authority than you have ` +
      `there; have it removed from the team, or ask an owner of the team for the role`;
  return findRoleAboveOwn(caller, role) ?? inTeam ?? null;
}
