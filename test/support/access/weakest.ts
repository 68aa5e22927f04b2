import { isPublic, type Operation } from '#api/pipeline/operation.ts';
import type { OrganizationRole, PlatformRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { type Demand, demands, teamRoleActions } from '../api/operation-table.ts';
import type { Ids } from '../api/tenant-ids.ts';
import type { Memberships } from './people.ts';
import { permissionsOf, platformRoles } from './permission-table.ts';

/** The access that an operation demands. @throws Error if the operation is public or not in the table */
export function demandOf({ id }: Operation): Demand {
  const demand = demands.get(id);
  if (!demand) throw new Error(`${id} is not in the table of test/support/api/operation-table.ts`);
  return demand;
}

/** Whether a platform role has the permissions that an operation demands. */
export function may(role: PlatformRole, { permissions, also }: Demand): boolean {
  return (
    permissions.some((each) => permissionsOf(role).includes(each)) &&
    also.every((each) => permissionsOf(role).includes(each))
  );
}

/** The weakest platform role that suffices. */
export function weakest(demand: Demand): PlatformRole {
  return platformRoles.find((role) => may(role, demand)) ?? 'admin';
}

const scopesWithOwner = ['team', 'organization', 'service_account', 'owned'];

/** Whether an operation works on something that a team or an organization owns. */
export function isOwned(operation: Operation): boolean {
  return !isPublic(operation.access) && scopesWithOwner.includes(demandOf(operation).scope);
}

/** The memberships that are too weak, by role, and the weakest membership that is sufficient. */
export function membershipsFor(demand: Demand, ids: Ids): { weaker: [string, Memberships][]; enough: Memberships } {
  if (demand.scope === 'organization') {
    const roles: OrganizationRole[] = ['member', 'admin', 'owner'];
    const at = roles.indexOf(demand.organizationRole ?? 'member');
    const as = (role: OrganizationRole) => ({ organizations: { [ids.organization]: role } });
    return { weaker: roles.slice(0, at).map((role) => [role, as(role)]), enough: as(roles[at]!) };
  }
  const roles = teamRoleActions.map(([role]) => role);
  const as = (role: TeamRole) => ({
    teams: { [ids.team]: role },
    organizations: { [ids.organization]: 'member' as const },
  });
  const suffices = ([, actions]: (typeof teamRoleActions)[number]) =>
    demand.teamActions.every((action) => actions.includes(action));
  const at = demand.scope === 'service_account' ? roles.indexOf('owner') : teamRoleActions.findIndex(suffices);
  return { weaker: roles.slice(0, at).map((role) => [role, as(role)]), enough: as(roles[at]!) };
}
