import type { Em } from '#database/database.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import { teamRoleOfAccount } from '#domain/service-accounts/model.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict, Forbidden, type ServiceError } from '#domain/shared/errors.ts';
import { enumerate } from '#domain/shared/ownership-graph/names.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { mayName, unknownPrincipal } from './acquaintance.ts';
import { mayGiveOrganizationRole, mayGiveTeamRole } from './grants.ts';
import type { MemberRoles, MembershipLevel } from './model.ts';
import { findTeamsOwnedAlone } from './owner-store.ts';
import { removeFromTeams } from './removal-store.ts';
import { findMember, type MemberPrincipal } from './store.ts';

/** The owners of memberships, by level. */
export interface MembershipOwners {
  readonly organization: OrganizationTarget;
  readonly team: TeamTarget;
}

/** The rules in which members of organizations and members of teams differ. */
interface MembershipRules<Level extends MembershipLevel> {
  /** Whether the caller may add a principal who is not a member yet. */
  readonly mayAdd: (
    em: Em,
    caller: Principal,
    owner: MembershipOwners[Level],
    joiner: MemberPrincipal,
  ) => Promise<boolean>;
  /** The refusal of a principal that does not exist or that the caller may not add. */
  readonly unknownMember: () => ServiceError;
  /** @throws Forbidden if the caller may not give and take all of these roles */
  readonly refuseRoles: (
    caller: Principal,
    owner: MembershipOwners[Level],
    roles: readonly MemberRoles[Level][],
  ) => void;
  /** @throws Conflict for a role that a service account cannot have there */
  readonly refuseAccount: (joiner: MemberPrincipal, role: MemberRoles[Level]) => void;
  /** Ends what depends on a membership before it ends itself. @throws Conflict for teams that would have no owner */
  readonly leave: (em: Em, owner: MembershipOwners[Level], member: Leaver) => Promise<void>;
}

interface Leaver {
  readonly type: MemberPrincipal['kind'];
  readonly userId: string;
}

export const membershipRules: { readonly [Level in MembershipLevel]: MembershipRules<Level> } = {
  organization: {
    mayAdd: (em, caller, _organization, joiner) => mayName(em, caller, joiner),
    unknownMember: unknownPrincipal,
    refuseRoles: refuseAboveOwn,
    refuseAccount: refuseAccountInOrganization,
    leave: leaveTeams,
  },
  team: {
    mayAdd: isInOrganization,
    unknownMember: () =>
      new Conflict(
        'the user is no member of the organization that owns this team: add them there first',
        'not_in_organization',
      ),
    refuseRoles: refuseOwners,
    refuseAccount: refuseAccountInTeam,
    leave: async () => {},
  },
};

/** Users outside the organization and users who do not exist get the same answer. */
function refuseAboveOwn(
  caller: Principal,
  { id }: OrganizationTarget,
  roles: readonly MemberRoles['organization'][],
): void {
  const above = roles.find((role) => !mayGiveOrganizationRole(caller, id, role));
  if (above) {
    throw new Forbidden(
      `permission denied: the organization role ${above} is above your own, so you cannot grant or revoke it`,
    );
  }
}

function refuseOwners(caller: Principal, team: TeamTarget, roles: readonly MemberRoles['team'][]): void {
  if (roles.every((role) => mayGiveTeamRole(caller, team, role))) return;
  throw new Forbidden('permission denied: the team role owner is above your own; this needs team.owner.manage');
}

/**
 * A service account can only have the role `member` in an organization, since a stronger role would open every team there.
 * An account that a team owns acts in that team alone.
 */
function refuseAccountInOrganization({ kind, ownerTeamId }: MemberPrincipal, role: MemberRoles['organization']): void {
  if (kind !== 'service_account') return;
  if (ownerTeamId !== null)
    throw new Conflict('the service account belongs to a team, and acts in that team alone', 'account_of_team');
  if (role !== 'member')
    throw new Conflict(
      'role: a service account can only have the role member in an organization',
      'account_role_unfit',
    );
}

/** A service account's platform role decides its role in a team. A request for another role is refused rather than changed. */
function refuseAccountInTeam({ kind, role: platformRole }: MemberPrincipal, role: MemberRoles['team']): void {
  if (kind !== 'service_account' || platformRole === null || teamRoleOfAccount[platformRole] === role) return;
  throw new Conflict(
    `role: a service account with the platform role ${platformRole} is ${teamRoleOfAccount[platformRole]} in a team: let it join as that, or change its platform role`,
    'account_role_unfit',
  );
}

async function isInOrganization(
  em: Em,
  _caller: Principal,
  team: TeamTarget,
  { id }: MemberPrincipal,
): Promise<boolean> {
  return (await findMember(em, 'organization', team.organizationId, id)) !== undefined;
}

/** The caller holds the organization's row, so that no team of it changes its owners meanwhile. */
async function leaveTeams(em: Em, { id }: OrganizationTarget, { type, userId }: Leaver): Promise<void> {
  const owned = type === 'user' ? await findTeamsOwnedAlone(em, id, userId) : [];
  if (owned.length > 0) {
    throw new Conflict(
      `this is the last owner of these teams: ${enumerate(owned)}; make somebody else their owner first`,
      'last_owner',
    );
  }
  await removeFromTeams(em, id, userId);
}
