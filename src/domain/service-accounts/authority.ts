import type { Em } from '#database/database.ts';
import type { PlatformRole } from '#domain/identity/model.ts';
import { refuseRoleAboveOwn } from '#domain/identity/users/user-changes.ts';
import { isPlatformAdministrator, teamActionsOf } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { teamRoleActions } from '#domain/teams/model.ts';
import { teamRoleOfAccount } from './model.ts';

/**
 * Refuses whoever would get at more through an account than they may do themselves: by its platform role, or by what that
 * makes of it in a team that it was let into. `role`: what it is to be, where that changes. The account's row is locked,
 * which keeps its memberships. (A team's own account needs no look at the team: its owners may do everything there.)
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
  const teams = await em.execute<{ id: string; slug: string; organization_id: string }[]>(
    `select t.id, t.slug, t.organization_id from team_members m join teams t on t.id = m.team_id and t.deleted_at is null
      where m.principal_id = ? order by t.id`,
    [account.id],
  );
  const teamRole = teamRoleOfAccount[role];
  const above = teams.find(({ id, organization_id }) => {
    const own = teamActionsOf(caller, organization_id, id);
    return !teamRoleActions[teamRole].every((action) => own.has(action));
  });
  if (!above) return;
  throw new Forbidden(
    `permission denied: the service account would be ${teamRole} of the team "${above.slug}", which is more than you may ` +
      `do there; let somebody take it out of the team, or ask an owner of the team for the role`,
  );
}
