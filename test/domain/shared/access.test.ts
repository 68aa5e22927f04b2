import { createQueryId, expressionBuilder, PostgresQueryCompiler, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Tables } from '#domain/entities.ts';
import {
  type Access,
  administers,
  decide,
  decidePermission,
  isPlatformAdministrator,
  readableTeams,
  teamActionsOf,
} from '#domain/shared/access/decide.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import { type AccountOwner, anonymous, type Principal, toPrincipal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type {
  OrganizationRole,
  PlatformRole,
  PrincipalKind,
  TeamAction,
  TeamRole,
} from '#domain/shared/vocabulary/roles.ts';
import { everyPermission, permissionsOf } from '#test/support/access/permission-table.ts';

const organization = '0190aaaa-0000-7000-8000-000000000001';
const team = '0190aaaa-0000-7000-8000-000000000002';
const owner = { organizationId: organization, teamId: team };
const installationOwnership = { organizationId: null, teamId: null };

type Facts = {
  role?: PlatformRole | null;
  kind?: PrincipalKind;
  enabled?: boolean;
  team?: TeamRole;
  organization?: OrganizationRole;
};

function principal({ role = 'maintainer', kind = 'user', enabled = true, ...memberships }: Facts = {}): Principal {
  return {
    ...anonymous,
    id: '0190aaaa-0000-7000-8000-000000000003',
    name: 'Ana',
    email: null,
    role,
    kind,
    enabled,
    teams: memberships.team ? { [team]: memberships.team } : {},
    organizations: memberships.organization ? { [organization]: memberships.organization } : {},
  };
}

/** The text of the condition by which a list of runs is filtered. */
function filterOf(caller: Principal, unscoped: 'visible' | 'hidden'): string {
  const team = expressionBuilder<Tables & { r: Tables['runs'] }, 'r'>().ref('r.teamId');
  const condition = sql`${isInReadableTeam(caller, team, unscoped)}`;
  return new PostgresQueryCompiler().compileQuery(condition.toOperationNode(), createQueryId()).sql;
}

const approve: Access = {
  anyOf: ['run:approve'],
  scope: 'team',
  teamAction: 'team.metadata.write',
  hidden: 'not_found',
  review: 'none',
};
const needing = (...teamAction: TeamAction[]): Access => ({ ...approve, teamAction });

describe('the table of platform roles', () => {
  it.each(['requester', 'maintainer', 'operator', 'admin'] as const)(
    'gives a %s exactly the permissions that the test lists',
    (role) => {
      expect([...rolePermissions[role]].sort()).toEqual(permissionsOf(role));
    },
  );

  it('has no permission that the test does not list', () => {
    const known = new Set(Object.values(rolePermissions).flatMap((permissions) => [...permissions]));
    expect([...known].sort()).toEqual(everyPermission);
  });

  it('gives every role the permissions of the weaker ones', () => {
    for (const [weaker, stronger] of [
      ['requester', 'maintainer'],
      ['maintainer', 'operator'],
      ['operator', 'admin'],
    ] as const)
      expect([...rolePermissions[weaker]].filter((permission) => !rolePermissions[stronger].has(permission))).toEqual(
        [],
      );
  });
});

describe('a permission', () => {
  it('is satisfied by any one of the permissions that an operation names', () => {
    const access: Access = { ...approve, anyOf: ['user:manage', 'run:approve'] };
    expect(decidePermission(principal({ role: 'maintainer' }), access)).toEqual({ allowed: true });
    expect(decidePermission(principal({ role: 'requester' }), access)).toEqual({
      allowed: false,
      because: 'permission',
    });
  });

  it('is held only by administrators who are users if an operation names no permission', () => {
    const access: Access = { ...approve, anyOf: [] };
    expect(decidePermission(principal({ role: 'operator' }), access).allowed).toBe(false);
    expect(decidePermission(principal({ role: 'admin', kind: 'service_account' }), access).allowed).toBe(false);
    expect(decidePermission(principal({ role: 'admin' }), access).allowed).toBe(true);
  });

  it.each([
    ['a disabled administrator', { role: 'admin', enabled: false }],
    ['a disabled maintainer', { enabled: false }],
    ['a user without a role', { role: null }],
    ['a background principal', { role: 'admin', kind: 'background' }],
    ['a system principal', { role: 'admin', kind: 'system' }],
  ] as [string, Facts][])('is refused to %s', (_name, facts) => {
    const denied = { allowed: false, because: 'permission' };
    const member = principal({ ...facts, team: 'owner', organization: 'owner' });
    expect(decidePermission(member, approve)).toEqual(denied);
    expect(decide(member, approve, owner)).toEqual(denied);
    expect(decide(member, approve, installationOwnership)).toEqual(denied);
  });

  it('is refused to a caller without a credential', () => {
    expect(decide(anonymous, approve, installationOwnership)).toEqual({ allowed: false, because: 'permission' });
  });

  it('is limited to the kinds of principal that an operation names, for administrators too', () => {
    const people: Access = { ...approve, principals: ['user'] };
    expect(decidePermission(principal({ kind: 'service_account' }), people).allowed).toBe(false);
    const accounts: Access = { ...approve, principals: ['service_account'] };
    expect(decidePermission(principal({ role: 'admin' }), accounts).allowed).toBe(false);
  });
});

const teamActionsOfRole: Record<TeamRole, TeamAction[]> = {
  owner: [
    'team.metadata.read',
    'team.metadata.write',
    'team.membership.manage',
    'team.invitation.manage',
    'team.owner.manage',
    'team.secret.read',
    'team.delete',
  ],
  admin: [
    'team.metadata.read',
    'team.metadata.write',
    'team.membership.manage',
    'team.invitation.manage',
    'team.secret.read',
  ],
  member: ['team.metadata.read', 'team.secret.read'],
  viewer: ['team.metadata.read'],
};
const allActions = teamActionsOfRole.owner;

describe('a resource of a team', () => {
  it.each(Object.keys(teamActionsOfRole) as TeamRole[])(
    'allows its %s the actions of the role, and no others',
    (role) => {
      for (const action of allActions) {
        const allowed = teamActionsOfRole[role].includes(action);
        expect(decide(principal({ team: role }), needing(action), owner), action).toEqual(
          allowed ? { allowed: true } : { allowed: false, because: 'action' },
        );
      }
    },
  );

  it.each([
    ['owner', ['team.metadata.read', 'team.secret.read', 'team.membership.manage', 'team.invitation.manage']],
    ['admin', ['team.metadata.read', 'team.secret.read', 'team.membership.manage', 'team.invitation.manage']],
  ] as [OrganizationRole, TeamAction[]][])(
    'allows an %s of its organization to read it and manage its members, but not to change it',
    (role, actions) => {
      for (const action of actions)
        expect(decide(principal({ organization: role }), needing(action), owner), action).toEqual({ allowed: true });
      const change = decide(principal({ organization: role }), needing('team.metadata.write'), owner);
      expect(change).toEqual({ allowed: false, because: 'action' });
    },
  );

  it('refuses an admin of its organization to manage owners or delete the team', () => {
    for (const action of ['team.owner.manage', 'team.delete'] as const)
      expect(decide(principal({ organization: 'admin' }), needing(action), owner).allowed, action).toBe(false);
  });

  it('is hidden from a plain member of its organization, and from everybody else', () => {
    const hidden = { allowed: false, because: 'hidden' };
    expect(decide(principal({ organization: 'member' }), approve, owner)).toEqual(hidden);
    expect(decide(principal(), approve, owner)).toEqual(hidden);
    expect(decide(principal({ team: 'owner' }), approve, { ...owner, teamId: organization })).toEqual(hidden);
    expect(decide(principal({ organization: 'owner' }), approve, { organizationId: team, teamId: team })).toEqual(
      hidden,
    );
    expect(decide(principal({ organization: 'owner' }), approve, { organizationId: null, teamId: team })).toEqual(
      hidden,
    );
  });

  it('requires every action that the operation names', () => {
    const both = needing('team.metadata.write', 'team.secret.read');
    expect(decide(principal({ team: 'member' }), both, owner)).toEqual({ allowed: false, because: 'action' });
    expect(decide(principal({ team: 'admin' }), both, owner)).toEqual({ allowed: true });
  });

  it('requires the platform permission, even of its owner', () => {
    expect(decide(principal({ role: 'requester', team: 'owner' }), approve, owner)).toEqual({
      allowed: false,
      because: 'permission',
    });
  });

  it('is hidden from strangers even if they also lack the permission', () => {
    const stranger = principal({ role: 'requester' });
    expect(decide(stranger, approve, owner)).toEqual({ allowed: false, because: 'hidden' });
  });

  it('needs only the permission if no team owns it', () => {
    expect(decide(principal(), approve, installationOwnership)).toEqual({ allowed: true });
  });
});

describe('a resource of an organization', () => {
  const asking = (organizationRole?: OrganizationRole): Access => ({
    anyOf: ['organization:write'],
    scope: 'organization',
    hidden: 'not_found',
    review: 'none',
    ...(organizationRole && { organizationRole }),
  });
  const ownership = { organizationId: organization, teamId: null };
  const roles = ['member', 'admin', 'owner'] as const;

  it('needs the required role or a stronger one', () => {
    for (const [needed, wanted] of roles.entries())
      for (const [had, role] of roles.entries())
        expect(decide(principal({ organization: role }), asking(wanted), ownership), `${role} for ${wanted}`).toEqual(
          had >= needed ? { allowed: true } : { allowed: false, because: 'action' },
        );
  });

  it('allows any member if no role is required, and is hidden from others', () => {
    expect(decide(principal({ organization: 'member' }), asking(), ownership)).toEqual({ allowed: true });
    expect(decide(principal({ team: 'owner' }), asking(), ownership)).toEqual({ allowed: false, because: 'hidden' });
    expect(decide(principal({ organization: 'owner' }), asking(), installationOwnership)).toEqual({
      allowed: false,
      because: 'hidden',
    });
  });
});

describe('a service account as target', () => {
  const manage: Access = {
    anyOf: ['service_account:manage'],
    scope: 'service_account',
    hidden: 'not_found',
    review: 'none',
  };
  const ana = principal();
  const ofAna = { ...installationOwnership, ownerUserId: ana.id };
  const ofBen = { ...installationOwnership, ownerUserId: '0190aaaa-0000-7000-8000-000000000004' };
  const hidden = { allowed: false, because: 'hidden' };

  it('a service account of a user is allowed to that user with the permission', () => {
    expect(decide(ana, manage, ofAna)).toEqual({ allowed: true });
    const lowered = principal({ role: 'requester' });
    expect(decide(lowered, manage, ofAna)).toEqual({ allowed: false, because: 'permission' });
  });

  it('a service account of a user is hidden from everybody else, even administrators and an account with the same id', () => {
    expect(decide(principal({ team: 'owner', organization: 'owner' }), manage, ofBen)).toEqual(hidden);
    expect(decide(principal({ role: 'admin' }), manage, ofBen)).toEqual(hidden);
    expect(decide(principal({ role: 'admin', kind: 'service_account' }), manage, ofBen)).toEqual(hidden);
    expect(decide(principal({ kind: 'service_account' }), manage, ofAna)).toEqual(hidden);
    expect(decide(principal({ role: 'admin' }), manage, ofAna)).toEqual({ allowed: true });
  });

  it('a service account of a team is allowed to owners of that team and to platform administrators', () => {
    expect(decide(principal({ team: 'owner' }), manage, owner)).toEqual({ allowed: true });
    expect(decide(principal({ team: 'owner', kind: 'service_account' }), manage, owner)).toEqual({ allowed: true });
    expect(decide(principal({ role: 'admin' }), manage, owner)).toEqual({ allowed: true });
    const elsewhere = { ...owner, teamId: organization };
    expect(decide(principal({ team: 'owner' }), manage, elsewhere)).toEqual(hidden);
  });

  it('a service account of a team is refused to its admins and to owners of its organization', () => {
    const denied = { allowed: false, because: 'action' };
    for (const role of ['admin', 'member', 'viewer'] as const)
      expect(decide(principal({ team: role }), manage, owner), role).toEqual(denied);
    expect(decide(principal({ organization: 'owner' }), manage, owner)).toEqual(denied);
    expect(decide(principal({ organization: 'member' }), manage, owner)).toEqual(hidden);
    expect(decide(principal({ role: 'admin', kind: 'service_account' }), manage, owner)).toEqual(hidden);
  });

  it('a service account without an owner is allowed to platform administrators only', () => {
    expect(decide(principal({ team: 'owner', organization: 'owner' }), manage, installationOwnership)).toEqual(hidden);
    expect(decide(principal({ role: 'admin' }), manage, installationOwnership)).toEqual({ allowed: true });
  });
});

describe('a service account as caller', () => {
  const row = { id: '0190aaaa-0000-7000-8000-000000000009', name: 'ci', email: null, enabled: true } as const;
  const key = { type: 'api_key', id: '0190aaaa-0000-7000-8000-00000000000a', issuedBy: 'issuer' } as const;
  const account = (role: PlatformRole, owner: AccountOwner | null) =>
    toPrincipal(
      {
        ...row,
        kind: 'service_account',
        role,
        owner,
        teams: { [team]: 'viewer' },
        organizations: { [organization]: 'owner' },
        features: {},
      },
      key,
    );
  const ofAna: AccountOwner = { userId: 'ana', teamId: null, organizationId: null };
  const ofTeam: AccountOwner = { userId: null, teamId: 'own team', organizationId: 'own organization' };

  it.each([
    ['admin', 'owner'],
    ['operator', 'admin'],
    ['maintainer', 'admin'],
    ['requester', 'member'],
  ] as const)(
    'a service account with the role %s is %s in its teams, whatever role its membership says',
    (role, teamRole) => {
      expect(account(role, ofAna)).toMatchObject({ teams: { [team]: teamRole } });
      expect(account(role, ofTeam).teams).toEqual({ 'own team': teamRole });
    },
  );

  it('is only a member of an organization', () => {
    expect(account('admin', ofAna).organizations).toEqual({ [organization]: 'member' });
    expect(account('admin', ofTeam).organizations).toEqual({ 'own organization': 'member' });
  });

  it('has its owner, or else the issuer of its key, as responsible user', () => {
    expect(account('admin', ofAna).responsibleUserId).toBe('ana');
    expect(account('admin', ofTeam).responsibleUserId).toBe('issuer');
  });

  it('has no role once its owner is deleted', () => {
    expect(account('admin', null)).toMatchObject({ role: null });
  });
});

describe('a platform administrator', () => {
  it('passes every check of role and action', () => {
    const root = principal({ role: 'admin' });
    expect(isPlatformAdministrator(root)).toBe(true);
    expect(decide(root, needing(...allActions), owner)).toEqual({ allowed: true });
    const ending: Access = { ...approve, scope: 'organization', organizationRole: 'owner' };
    expect(decide(root, ending, owner)).toEqual({ allowed: true });
    expect(readableTeams(root)).toBe('all');
  });

  it('is a user: a service account with the role has its permissions, but no access to teams', () => {
    const account = principal({ role: 'admin', kind: 'service_account' });
    expect(isPlatformAdministrator(account)).toBe(false);
    expect(decidePermission(account, { ...approve, anyOf: ['user:manage'] }).allowed).toBe(true);
    expect(decide(account, approve, owner)).toEqual({ allowed: false, because: 'hidden' });
    expect(readableTeams(account)).toEqual({ teams: [], organizations: [] });
  });

  it('has no rights while disabled', () => {
    const former = principal({ role: 'admin', enabled: false });
    expect(isPlatformAdministrator(former)).toBe(false);
    expect(readableTeams(former)).not.toBe('all');
    expect(filterOf(former, 'visible')).not.toBe('true');
  });
});

describe('the filter of lists', () => {
  it('allows the principal’s teams, and all teams of the organizations that it administers', () => {
    expect(readableTeams(principal({ team: 'viewer', organization: 'member' }))).toEqual({
      teams: [team],
      organizations: [],
    });
    expect(readableTeams(principal({ organization: 'admin' }))).toEqual({ teams: [], organizations: [organization] });
  });

  it('includes rows without a team only if the caller asks for them', () => {
    expect(filterOf(principal(), 'visible')).toContain('"r"."teamId" is null');
    expect(filterOf(principal(), 'hidden')).not.toContain('is null');
  });
});

describe('a resource that the installation, an organization or a team may own', () => {
  const manage: Access = {
    anyOf: ['connection:manage'],
    scope: 'owned',
    teamAction: 'team.metadata.write',
    organizationRole: 'admin',
    installation: 'administrators',
    hidden: 'not_found',
    review: 'none',
  };
  const ofOrganization = { organizationId: organization, teamId: null };
  const because = (reason: string) => ({ allowed: false, because: reason });

  it("requires the action in the team that owns it, and not a role in the team's organization", () => {
    expect(decide(principal({ team: 'admin' }), manage, owner)).toEqual({ allowed: true });
    expect(decide(principal({ team: 'member' }), manage, owner)).toEqual(because('action'));
    expect(decide(principal({ organization: 'member' }), manage, owner)).toEqual(because('hidden'));
  });

  it('requires the role in the organization that owns it, and is hidden from everybody outside', () => {
    expect(decide(principal({ organization: 'admin' }), manage, ofOrganization)).toEqual({ allowed: true });
    expect(decide(principal({ organization: 'member' }), manage, ofOrganization)).toEqual(because('action'));
    expect(decide(principal({ team: 'owner' }), manage, ofOrganization)).toEqual(because('hidden'));
  });

  it('is reserved for administrators if the installation owns it', () => {
    expect(decide(principal({ role: 'admin' }), manage, installationOwnership)).toEqual({ allowed: true });
    expect(decide(principal({ organization: 'owner' }), manage, installationOwnership)).toEqual(
      because('installation'),
    );
  });

  it('is open to its creator and to a service account with the role admin if the installation owns it', () => {
    const account = principal({ role: 'admin', kind: 'service_account' });
    const mine = { ...installationOwnership, isCallersOwn: true };
    for (const installation of ['administrators', 'hidden'] as const) {
      expect(decide(account, { ...manage, installation }, installationOwnership)).toEqual({ allowed: true });
      expect(decide(principal(), { ...manage, installation }, mine)).toEqual({ allowed: true });
    }
    expect(decide(principal(), { ...manage, installation: 'hidden' }, installationOwnership)).toEqual(
      because('hidden'),
    );
  });

  it('requires the permission besides the role', () => {
    const requester = principal({ role: 'requester', organization: 'owner', team: 'owner' });
    expect(decide(requester, manage, ofOrganization)).toEqual(because('permission'));
    expect(decide(requester, manage, owner)).toEqual(because('permission'));
  });
});

describe("the rights of an organization role in the organization's teams", () => {
  it.each<[OrganizationRole, TeamAction[]]>([
    ['owner', ['team.membership.manage', 'team.invitation.manage', 'team.owner.manage', 'team.delete']],
    ['admin', ['team.membership.manage', 'team.invitation.manage']],
  ])('include for the role %s the actions of a team member and further actions', (role, more) => {
    const ofMember = teamActionsOf(principal({ team: 'member' }), organization, team);
    expect(teamActionsOf(principal({ organization: role }), organization, team)).toEqual(
      new Set([...ofMember, ...more]),
    );
  });

  it('include the administration of owned resources only for owners and admins', () => {
    const who = (facts: Facts) => administers(principal(facts), owner);
    expect([who({ organization: 'owner' }), who({ organization: 'admin' }), who({ team: 'owner' })]).toEqual([
      true,
      true,
      true,
    ]);
    expect([who({ organization: 'member' }), who({ team: 'member' }), who({})]).toEqual([false, false, false]);
    expect(administers(principal({ organization: 'owner', team: 'owner' }), installationOwnership)).toBe(false);
    expect(administers(principal({ role: 'admin' }), installationOwnership)).toBe(true);
  });
});
