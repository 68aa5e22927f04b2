import type { Em } from '#database/database.ts';
import type { PlatformRole } from '#domain/identity/model.ts';
import { refuseRoleAboveOwn } from '#domain/identity/users/user-changes.ts';
import { isPlatformAdministrator, teamActionsOf } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { teamRoleActions } from '#domain/teams/model.ts';
import { teamRoleOfAccount } from './model.ts';
import { findTeamsOf } from './store.ts';

/**
 * Refuses a caller who would get authority through an account that they do not have themselves: by its platform role, or by the
 * role that this gives the account in a team that it is a member of. The account's row is locked, so its memberships cannot
 * change. The team that owns an account is not checked, because its owners may do everything there.
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
  refuseRoleAboveOwn(caller, role);
  const teams = await findTeamsOf(em, account.id);
  const teamRole = teamRoleOfAccount[role];
  const above = teams.find(({ id, organizationId }) => {
    const own = teamActionsOf(caller, organizationId, id);
    return !teamRoleActions[teamRole].every((action) => own.has(action));
  });
  if (!above) return;
  throw new Forbidden(
    `permission denied: the service account would be ${teamRole} of the team "${above.slug}", with more authority than you have ` +
      `there; have it removed from the team, or ask an owner of the team for the role`,
  );
}
