import type { Em } from '#database/database.ts';
import type { OrganizationRole } from '../vocabulary/roles.ts';
import { type TeamAction, teamRoleActions } from '../vocabulary/roles.ts';
import { type Permission, rolePermissions } from './permissions.ts';
import type { Principal } from './principal.ts';

/**
 * What an operation demands of its caller. Every operation must declare it, and no required member has a default. The scope says what is
 * checked besides the permission:
 * - `platform`: nothing.
 * - `organization`, `team`: the caller's role in the organization or team that owns the target.
 * - `self`: nothing, because the target is always the caller's own.
 * - `service_account`: the owner of the target. Only the user who owns it passes, or the owners of the team that owns it.
 * - `administered`: whether the caller manages the memberships of the organization or team that owns the target. The target is hidden from
 *   everybody else.
 * - `owned`: the action in the team that owns the target, else the role in its organization, else the rule of `installation`.
 */
export interface Access {
  readonly anyOf: readonly Permission[];
  /** Permissions that the caller needs in addition to one of `anyOf`: all of them. */
  readonly allOf?: readonly Permission[];
  readonly scope: 'platform' | 'organization' | 'team' | 'self' | 'service_account' | 'administered' | 'owned';
  /** The actions that the caller needs in the team that owns the target, in addition to the permission. */
  readonly teamAction?: TeamAction | readonly TeamAction[];
  /**
   * Restricts targets that belong to the whole installation to administrators and the creator of the target. With `administrators`, other
   * callers get an answer that names this restriction. With `hidden`, they get the answer for a target that does not exist: use it if lists
   * leave the target out. By default, the permission is enough for such a target.
   */
  readonly installation?: 'administrators' | 'hidden';
  /** The role that the caller needs in the organization that owns the target, or a stronger one. */
  readonly organizationRole?: 'member' | 'admin' | 'owner';
  /**
   * The refusal for a target that does not exist or that the caller may not read. `invalid` is for a target that the body names: the answer
   * reports an invalid field.
   */
  readonly hidden: 'not_found' | 'forbidden' | 'invalid';
  /**
   * A caller without the permission gets the answer for a hidden target, even if the target does not exist. By default, the answer names
   * the missing permission.
   */
  readonly missingPermission?: 'hidden';
  /** The kinds of principal that may call it; by default users and service accounts. */
  readonly principals?: readonly Principal['kind'][];
  /** Its own can-i entry, the entry of an operation with the same access, or none. */
  readonly review: AccessReview | { readonly inherits: string } | 'none';
}

/**
 * How `can-i` names an operation. An access review has a `name` if the operation's path has a parameter, and is about the
 * collection if it has none. In the scope `team` it also has a `team_id`.
 */
export interface AccessReview {
  /** The kind of the target, in the plural and in snake_case. */
  readonly resource: string;
  readonly verb: string;
  /** The parameter of the path to which `name` corresponds; by default the last one. */
  readonly parameter?: string;
  /** The name of a resource that exists only once, if the path has no parameter. */
  readonly only?: string;
  /** The target may belong to no team; a review of such a target has no `team_id`. */
  readonly unscoped?: true;
  /**
   * Finds the target by `name`. Use this if the operation's resolver needs more than the name, or more than one query. A `LookupById` is
   * read in one statement with the caller.
   */
  readonly target?: (em: Em, name: string) => Promise<Ownership | undefined>;
}

export interface PublicAccess {
  /** Why everybody may call it, even without a credential. */
  readonly public: string;
}

/** The owner of a target. With `organizationId` and `teamId` null it belongs to the whole installation. */
export interface Ownership {
  readonly organizationId: string | null;
  readonly teamId: string | null;
  /** The user who owns it; administrators have no access instead of that user. */
  readonly ownerUserId?: string | null;
  /** Whether the caller made it. This counts only if the target belongs to the whole installation. */
  readonly isCallersOwn?: boolean;
  /** All owners that the filters of a list name: the caller needs access to each of them. */
  readonly named?: readonly Ownership[];
}

/** The ownership of what belongs to the whole installation. */
export const installationOwnership: Ownership = { organizationId: null, teamId: null };

type Denial = 'permission' | 'kind' | 'hidden' | 'action' | 'installation';
export type Decision = { allowed: true } | { allowed: false; because: Denial };

const allowed: Decision = { allowed: true };
const refused = (because: Denial): Decision => ({ allowed: false, because });

/** Decides by permission and kind of principal alone, before the target is known (docs/architecture.md, *An operation*). */
export function decidePermission(
  principal: Principal,
  access: Pick<Access, 'anyOf' | 'allOf' | 'principals'>,
): Decision {
  const kinds = access.principals ?? ['user', 'service_account'];
  if (!principal.enabled) return refused('permission');
  if (!kinds.includes(principal.kind)) return refused(principal.kind === 'service_account' ? 'kind' : 'permission');
  if (isPlatformAdministrator(principal)) return allowed;
  const permissions = principal.role && rolePermissions[principal.role];
  const { anyOf, allOf = [] } = access;
  const hasAll =
    permissions && anyOf.some((each) => permissions.has(each)) && allOf.every((each) => permissions.has(each));
  return hasAll ? allowed : refused('permission');
}

/**
 * Decides about a target by its owner. A target that the caller may not read is `hidden`, even if the caller lacks the
 * permission too: a different refusal would reveal that the target exists. Users who are platform administrators pass the
 * checks of role and action. Rules about a resource's state are checked elsewhere.
 */
export function decide(principal: Principal, access: Access, owner: Ownership): Decision {
  const permission = decidePermission(principal, access);
  const isPersonal = access.scope === 'service_account' && Boolean(owner.ownerUserId);
  if (isPlatformAdministrator(principal) && !isPersonal) return permission;
  const ownership = decideOwnership(principal, access, owner);
  const isHidden = !ownership.allowed && ownership.because === 'hidden';
  return permission.allowed || isHidden ? ownership : permission;
}

/** Replaces the scope `owned` by the scope that fits the owner of the target. Any other access is returned unchanged. */
export function accessByOwner(access: Access, { organizationId, teamId }: Ownership): Access {
  if (access.scope !== 'owned') return access;
  return { ...access, scope: teamId === null && organizationId !== null ? 'organization' : 'team' };
}

function decideOwnership(principal: Principal, declared: Access, owner: Ownership): Decision {
  const access = accessByOwner(declared, owner);
  if (access.scope === 'service_account' && owner.ownerUserId) return decidePersonal(principal, owner.ownerUserId);
  if (access.scope === 'team') return decideTeam(principal, access, owner);
  if (access.scope === 'organization') return decideOrganization(principal, access, owner);
  if (access.scope === 'service_account') return decideTeamOwned(principal, owner);
  if (access.scope === 'administered') return administers(principal, owner) ? allowed : refused('hidden');
  return allowed;
}

/** Whether a principal is an enabled user with the role `admin`. A service account with that role has only its permissions. */
export function isPlatformAdministrator(principal: Principal): boolean {
  return principal.kind === 'user' && principal.enabled && principal.role === 'admin';
}

function decideTeam(principal: Principal, access: Access, owner: Ownership): Decision {
  if (owner.teamId === null) return decideInstallation(principal, access, owner);
  const actions = teamActionsOf(principal, owner.organizationId, owner.teamId);
  if (!actions.has('team.metadata.read')) return refused('hidden');
  const needed = access.teamAction === undefined ? [] : [access.teamAction].flat();
  return needed.every((action) => actions.has(action)) ? allowed : refused('action');
}

/** Decides about a target of the whole installation, which has no owner and on which every tenant may depend. */
function decideInstallation(principal: Principal, { installation }: Access, { isCallersOwn }: Ownership): Decision {
  if (installation === undefined || administersInstallation(principal) || isCallersOwn) return allowed;
  return refused(installation === 'hidden' ? 'hidden' : 'installation');
}

/**
 * Whether a principal may use those targets of the whole installation that are restricted to administrators. Service accounts may have this
 * role too.
 */
export function administersInstallation({ role }: Principal): boolean {
  return role === 'admin';
}

/** A user's service account is hidden from everybody else, administrators included. */
function decidePersonal(principal: Principal, ownerUserId: string): Decision {
  return principal.kind === 'user' && principal.id === ownerUserId ? allowed : refused('hidden');
}

/** A team's service account is for owners of that team. Others who may read the team can only read it. */
function decideTeamOwned(principal: Principal, { organizationId, teamId }: Ownership): Decision {
  if (teamId === null) return refused('hidden');
  if (principal.teams[teamId] === 'owner') return allowed;
  const mayLook = teamActionsOf(principal, organizationId, teamId).has('team.metadata.read');
  return refused(mayLook ? 'action' : 'hidden');
}

/** The actions that a role in an organization gives in each of its teams. */
const organizationRoleActions: Record<OrganizationRole, readonly TeamAction[]> = {
  owner: [
    ...teamRoleActions.member,
    'team.membership.manage',
    'team.invitation.manage',
    'team.owner.manage',
    'team.delete',
  ],
  admin: [...teamRoleActions.member, 'team.membership.manage', 'team.invitation.manage'],
  member: [],
};

const organizationRank = { member: 1, admin: 2, owner: 3 } as const;

function decideOrganization(principal: Principal, access: Access, owner: Ownership): Decision {
  const role = owner.organizationId === null ? undefined : principal.organizations[owner.organizationId];
  if (!role) return refused('hidden');
  const needed = access.organizationRole ?? 'member';
  return organizationRank[role] >= organizationRank[needed] ? allowed : refused('action');
}

/**
 * The actions of a principal in a team, by its roles in the team and in the organization. Owners and admins of the organization
 * have the actions of the team's members, and also manage its memberships.
 */
export function teamActionsOf(
  principal: Principal,
  organizationId: string | null,
  teamId: string,
): ReadonlySet<TeamAction> {
  const teamRole = principal.teams[teamId];
  const organizationRole = organizationId === null ? undefined : principal.organizations[organizationId];
  const own = teamRole ? teamRoleActions[teamRole] : [];
  const inherited = organizationRole ? organizationRoleActions[organizationRole] : [];
  return new Set([...own, ...inherited]);
}

/** Whether a principal manages the memberships of the organization or the team that owns something. */
export function administers(principal: Principal, { organizationId, teamId }: Ownership): boolean {
  if (isPlatformAdministrator(principal)) return true;
  const { organizations, teams } = administered(principal);
  return organizations.includes(organizationId ?? '') || teams.includes(teamId ?? '');
}

/** The organizations and the teams whose memberships a principal manages by its role in them. */
export function administered(principal: Principal): { organizations: string[]; teams: string[] } {
  const organizations = Object.entries(principal.organizations).filter(([, role]) => managesMembers(role));
  const teams = Object.entries(principal.teams).filter(([, role]) =>
    teamRoleActions[role].includes('team.membership.manage'),
  );
  return { organizations: organizations.map(([id]) => id), teams: teams.map(([id]) => id) };
}

function managesMembers(role: OrganizationRole): boolean {
  return organizationRoleActions[role].includes('team.membership.manage');
}

/** The teams that a principal may read: all of them, or its own and every team of the organizations that it administers. */
export function readableTeams(principal: Principal): 'all' | { teams: string[]; organizations: string[] } {
  if (isPlatformAdministrator(principal)) return 'all';
  const administered = Object.entries(principal.organizations).filter(
    ([, role]) => organizationRoleActions[role].length > 0,
  );
  return { teams: Object.keys(principal.teams), organizations: administered.map(([id]) => id) };
}
