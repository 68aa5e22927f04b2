import type { Em } from '#database/database.ts';
import { unknownPrincipal } from '#domain/memberships/acquaintance.ts';
import type { MemberRoles, MembershipLevel } from '#domain/memberships/model.ts';
import { findMember, type MemberPrincipal } from '#domain/memberships/store.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { withRole } from '#domain/shared/access/weakest-role.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { Conflict, type ServiceError } from '#domain/shared/errors.ts';
import { organizationRoles, teamRoleOfAccount, teamRoles } from '#domain/shared/vocabulary/roles.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { mayGiveOrganizationRole, mayGiveTeamRole } from './grants.ts';
import { mayName } from './naming.ts';
import { findTeamsOwnedAlone } from './owner-store.ts';
import { removeFromTeams } from './removal-store.ts';

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
  /** The roles that a member can have. */
  readonly roles: readonly MemberRoles[Level][];
  /** The message of the refusal if the caller may not grant and remove all of these roles; null if they may. */
  readonly findRolesAboveOwn: (
    caller: Principal,
    owner: MembershipOwners[Level],
    roles: readonly MemberRoles[Level][],
  ) => string | null;
  /** The refusal of a role that a service account cannot have there; null for every other role and for people. */
  readonly findAccountRefusal: (joiner: MemberPrincipal, role: MemberRoles[Level]) => Refusal | null;
  /** The teams that would have no owner without this member. */
  readonly findOwnedAlone: (em: Em, owner: MembershipOwners[Level], member: Leaver) => Promise<string[]>;
  /** Ends what depends on a membership, before it ends itself. */
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
    roles: organizationRoles,
    findRolesAboveOwn: findAboveOwnInOrganization,
    findAccountRefusal: findAccountRefusalInOrganization,
    findOwnedAlone: async (em, { id }, { type, userId }) =>
      type === 'user' ? findTeamsOwnedAlone(em, id, userId) : [],
    leave: (em, { id }, { userId }) => removeFromTeams(em, id, userId),
  },
  team: {
    mayAdd: isInOrganization,
    unknownMember: () =>
      new Conflict(
        'the user is no member of the organization that owns this team: add them there first',
        'not_in_organization',
      ),
    roles: teamRoles,
    findRolesAboveOwn: findOwnerAboveOwn,
    findAccountRefusal: findAccountRefusalInTeam,
    findOwnedAlone: async () => [],
    leave: async () => {},
  },
};

function findAboveOwnInOrganization(
  caller: Principal,
  { id }: OrganizationTarget,
  roles: readonly MemberRoles['organization'][],
): string | null {
  const above = roles.find((role) => !mayGiveOrganizationRole(caller, id, role));
  if (!above) return null;
  return `permission denied: the organization role ${above} is above your own, so you cannot grant or revoke it`;
}

function findOwnerAboveOwn(caller: Principal, team: TeamTarget, roles: readonly MemberRoles['team'][]): string | null {
  if (roles.every((role) => mayGiveTeamRole(caller, team, role))) return null;
  return `permission denied: the team role owner is above your own; this needs ${withRole('team.owner.manage')}`;
}

/**
 * A service account can only have the role `member` in an organization, since a stronger role would open every team there.
 * An account that a team owns acts in that team alone.
 */
function findAccountRefusalInOrganization(
  { kind, ownerTeamId }: MemberPrincipal,
  role: MemberRoles['organization'],
): Refusal | null {
  if (kind !== 'service_account') return null;
  if (ownerTeamId !== null)
    return {
      code: 'account_of_team',
      message: 'the service account belongs to a team, and acts in that team alone',
    };
  if (role === 'member') return null;
  return {
    code: 'account_role_unfit',
    message: 'role: a service account can only have the role member in an organization',
  };
}

/** A service account's platform role decides its role in a team. A request for another role is refused rather than changed. */
function findAccountRefusalInTeam(
  { kind, role: platformRole }: MemberPrincipal,
  role: MemberRoles['team'],
): Refusal | null {
  if (kind !== 'service_account' || platformRole === null || teamRoleOfAccount[platformRole] === role) return null;
  return {
    code: 'account_role_unfit',
    message: `role: a service account with the platform role ${platformRole} is ${teamRoleOfAccount[platformRole]} in a team: let it join as that, or change its platform role`,
  };
}

async function isInOrganization(
  em: Em,
  _caller: Principal,
  team: TeamTarget,
  { id }: MemberPrincipal,
): Promise<boolean> {
  return (await findMember(em, 'organization', team.organizationId, id)) !== undefined;
}
