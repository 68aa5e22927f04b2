import type { Em } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';
import type { OrganizationRole } from '#domain/organizations/model.ts';
import { type TeamAction, teamRoleActions } from '#domain/teams/model.ts';
import { type Permission, rolePermissions } from './permissions.ts';
import type { Principal } from './principal.ts';

/**
 * What an operation demands. No member has a default: whoever declares an operation says who may run it.
 * `platform`: the permission alone decides. `organization`, `team`: the target's owner decides as well. `self`: the caller's own.
 * `service_account`: the user who owns the target and nobody else, or the owners of the team that does.
 */
export interface Access {
  readonly anyOf: readonly Permission[];
  readonly scope: 'platform' | 'organization' | 'team' | 'self' | 'service_account';
  /** Needed, beside the permission, in the team that owns the target. */
  readonly teamAction?: TeamAction | readonly TeamAction[];
  /** Needed in the organization that owns the target; a stronger role serves as well. */
  readonly organizationRole?: 'member' | 'admin' | 'owner';
  /** What a target answers that is missing, or that the caller may not read. */
  readonly hidden: 'not_found' | 'forbidden';
  /** The kinds of principal that may come at all; users and service accounts unless it says otherwise. */
  readonly principals?: readonly Principal['kind'][];
  /** Under which name `can-i` reviews it: its own, that of another operation which demands the same, or none. */
  readonly review: Review | { readonly inherits: string } | 'none';
}

/**
 * What `can-i` calls an operation. A review names what the operation's path names, and where the path names nothing it is
 * about the collection; in the scope `team` it says which team besides.
 */
export interface Review {
  /** The plural of what the operation is decided about, in snake_case. */
  readonly resource: string;
  readonly verb: string;
  /** The parameter of the path that a review's `name` stands for; the last one unless it says otherwise. */
  readonly parameter?: string;
  /** The name of what there is only one of, where the path has no parameter. */
  readonly only?: string;
  /** What it is about may belong to no team; a review of that comes without `team_id`. */
  readonly unscoped?: true;
  /** Finds by `name` what the operation finds by more than that, or finds its owner in fewer queries. */
  readonly target?: (em: Em, name: string) => Promise<Ownership | undefined>;
}

export interface PublicAccess {
  /** Why anybody may call it. */
  readonly public: string;
}

/** Who owns a target. `teamId: null` and `organizationId: null`: nobody, it belongs to the whole installation. */
export interface Ownership {
  readonly organizationId: string | null;
  readonly teamId: string | null;
  /** The one person whose it is; no administrator stands in for them. */
  readonly ownerUserId?: string | null;
}

/** Whose that is which belongs to the whole installation. */
export const nobody: Ownership = { organizationId: null, teamId: null };

export type Decision = { allowed: true } | { allowed: false; because: 'permission' | 'hidden' | 'action' };

const allowed: Decision = { allowed: true };
const refused = (because: 'permission' | 'hidden' | 'action'): Decision => ({ allowed: false, because });

/** The first half: what the principal may do at all, whatever the target is (access.md of the design, answer 2). */
export function decidePermission(principal: Principal, access: Access): Decision {
  const kinds = access.principals ?? ['user', 'service_account'];
  if (!principal.enabled || !kinds.includes(principal.kind)) return refused('permission');
  if (isPlatformAdministrator(principal)) return allowed;
  const permissions = principal.role && rolePermissions[principal.role];
  return permissions && access.anyOf.some((permission) => permissions.has(permission))
    ? allowed
    : refused('permission');
}

/**
 * The one decision about a target, given who owns it. A target that the caller may not even read is `hidden`, also where it
 * demands a permission that the caller lacks: else that would tell that it is there.
 * Human platform administrators pass the checks of role and action; never those of lifecycle, which stand elsewhere.
 */
export function decide(principal: Principal, access: Access, owner: Ownership): Decision {
  const permission = decidePermission(principal, access);
  const isPersonal = access.scope === 'service_account' && Boolean(owner.ownerUserId);
  if (isPlatformAdministrator(principal) && !isPersonal) return permission;
  const ownership = decideOwnership(principal, access, owner);
  const isHidden = !ownership.allowed && ownership.because === 'hidden';
  return permission.allowed || isHidden ? ownership : permission;
}

function decideOwnership(principal: Principal, access: Access, owner: Ownership): Decision {
  if (access.scope === 'service_account' && owner.ownerUserId) return decidePersonal(principal, owner.ownerUserId);
  if (access.scope === 'team') return decideTeam(principal, access, owner);
  if (access.scope === 'organization') return decideOrganization(principal, access, owner);
  if (access.scope === 'service_account') return decideTeamOwned(principal, owner);
  return allowed;
}

/** Human administrators only: a service account with the role `admin` has its permissions, and no more. */
export function isPlatformAdministrator(principal: Principal): boolean {
  return principal.kind === 'user' && principal.enabled && principal.role === 'admin';
}

function decideTeam(principal: Principal, access: Access, owner: Ownership): Decision {
  if (owner.teamId === null) return allowed;
  const actions = teamActionsOf(principal, owner.organizationId, owner.teamId);
  if (!actions.has('team.metadata.read')) return refused('hidden');
  const needed = access.teamAction === undefined ? [] : [access.teamAction].flat();
  return needed.every((action) => actions.has(action)) ? allowed : refused('action');
}

/** What a user owns is theirs alone: to everybody else, administrators included, it is not there. */
function decidePersonal(principal: Principal, ownerUserId: string): Decision {
  return principal.kind === 'user' && principal.id === ownerUserId ? allowed : refused('hidden');
}

/** What a team owns is for the team's owners by their role in that very team; its admins know of it, and no more. */
function decideTeamOwned(principal: Principal, { organizationId, teamId }: Ownership): Decision {
  if (teamId === null) return refused('hidden');
  if (principal.teams[teamId] === 'owner') return allowed;
  const mayLook = teamActionsOf(principal, organizationId, teamId).has('team.metadata.read');
  return refused(mayLook ? 'action' : 'hidden');
}

/** What an organization's role is worth in each of its teams. */
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
 * What a principal may do in a team: by its role there; owners and admins of the organization act as its members do,
 * and manage its memberships besides.
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

/**
 * The teams whose things a principal may read, as the filter of lists: everything; or the teams it is in and every team
 * of the organizations that it administers.
 */
export function readableTeams(principal: Principal): 'all' | { teams: string[]; organizations: string[] } {
  if (isPlatformAdministrator(principal)) return 'all';
  const administered = Object.entries(principal.organizations).filter(
    ([, role]) => organizationRoleActions[role].length > 0,
  );
  return { teams: Object.keys(principal.teams), organizations: administered.map(([id]) => id) };
}

/**
 * The same as an SQL condition on a column that names a team, to be put into a list's query (never applied after the
 * page is cut). `unscoped` says what rows without a team are: everybody's with the permission, or nobody's.
 */
export function readableTeamsSql(
  principal: Principal,
  column: string,
  unscoped: 'visible' | 'hidden',
): { sql: string; params: unknown[] } {
  const readable = readableTeams(principal);
  if (readable === 'all') return { sql: 'true', params: [] };
  const none = unscoped === 'visible' ? `${column} is null or ` : '';
  return {
    sql: `(${none}${column} = any(?::uuid[]) or ${column} in (select t.id from teams t where t.organization_id = any(?::uuid[])))`,
    params: [pgArray(readable.teams), pgArray(readable.organizations)],
  };
}
