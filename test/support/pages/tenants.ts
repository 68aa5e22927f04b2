import type { OrganizationRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { required } from './answers.ts';
import type { People, PersonKey } from './people.ts';

interface TeamPlan {
  readonly name: string;
  readonly members: Partial<Record<PersonKey, TeamRole>>;
  readonly projects: Readonly<Record<string, { readonly name: string; readonly description?: string }>>;
}

interface OrganizationPlan {
  readonly name: string;
  readonly owner: PersonKey;
  readonly members: Partial<Record<PersonKey, OrganizationRole>>;
  readonly teams: Readonly<Record<string, TeamPlan>>;
}

const organizations = {
  northwind: {
    name: 'Northwind',
    owner: 'owner',
    members: {
      maintainer: 'admin',
      reviewer: 'member',
      operator: 'member',
      requester: 'member',
      viewer: 'member',
      developer: 'member',
      former: 'member',
    },
    teams: {
      platform: {
        name: 'Platform',
        members: { maintainer: 'admin', reviewer: 'admin', operator: 'admin', requester: 'member', viewer: 'viewer' },
        projects: { network: { name: 'Network' }, observability: { name: 'Observability' } },
      },
      payments: {
        name: 'Payments',
        members: { maintainer: 'owner', reviewer: 'admin', requester: 'member', developer: 'member', viewer: 'viewer' },
        projects: { ledger: { name: 'Ledger' }, checkout: { name: 'Checkout' } },
      },
      storefront: {
        name: 'Storefront',
        members: { reviewer: 'admin', requester: 'member', developer: 'member', former: 'viewer' },
        projects: { shop: { name: 'Shop' } },
      },
    },
  },
  fjord: {
    name: 'Fjord Logistics',
    owner: 'fjordOwner',
    members: { fjordReviewer: 'admin', fjordRequester: 'member', operator: 'member' },
    teams: {
      fleet: {
        name: 'Fleet',
        members: { fjordReviewer: 'admin', fjordRequester: 'member', operator: 'admin' },
        projects: { tracking: { name: 'Tracking' }, depot: { name: 'Depot' } },
      },
      data: {
        name: 'Data Platform',
        members: { fjordReviewer: 'admin', fjordRequester: 'member' },
        projects: { lakehouse: { name: 'Lakehouse' } },
      },
    },
  },
} as const satisfies Record<string, OrganizationPlan>;

type Organizations = typeof organizations;
export type OrganizationKey = keyof Organizations;
export type TeamKey = { [Each in OrganizationKey]: keyof Organizations[Each]['teams'] }[OrganizationKey];

export interface SeededTeam {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly path: string;
}

export interface SeededProject {
  readonly id: string;
  readonly name: string;
  readonly team: SeededTeam;
}

export interface Tenants {
  readonly organizations: Readonly<Record<OrganizationKey, { readonly id: string; readonly name: string }>>;
  readonly teams: Readonly<Record<TeamKey, SeededTeam>>;
  readonly projects: Readonly<Record<string, SeededProject>>;
}

/** Creates the organizations as their owners, and lets the administrator add the members. */
export async function addTenants(people: People): Promise<Tenants> {
  const made = { organizations: {}, teams: {}, projects: {} } as {
    organizations: Record<string, { id: string; name: string }>;
    teams: Record<string, SeededTeam>;
    projects: Record<string, SeededProject>;
  };
  for (const [key, plan] of Object.entries<OrganizationPlan>(organizations)) {
    const owner = people[plan.owner];
    const { id } = await owner.make('/organizations', { name: plan.name });
    made.organizations[key] = { id, name: plan.name };
    await addMembers(people, `/organizations/${id}`, plan.members);
    for (const [teamKey, team] of Object.entries(plan.teams)) {
      const added = await addTeam(people, plan, id, team);
      made.teams[teamKey] = added;
      for (const [projectKey, { name }] of Object.entries(team.projects)) {
        const project = await owner.make('/projects', { team_id: added.id, name });
        made.projects[projectKey] = { id: project.id, name, team: added };
      }
    }
  }
  return made as Tenants;
}

async function addTeam(
  people: People,
  { owner }: OrganizationPlan,
  organizationId: string,
  { name, members }: TeamPlan,
): Promise<SeededTeam> {
  const { id } = await people[owner].make(`/organizations/${organizationId}/teams`, { name });
  const path = `/organizations/${organizationId}/teams/${id}`;
  await addMembers(people, path, members);
  return { id, name, organizationId, path };
}

async function addMembers(people: People, path: string, members: Partial<Record<PersonKey, string>>): Promise<void> {
  for (const [key, role] of Object.entries(members) as [PersonKey, string][]) {
    required(await people.admin.put(`${path}/members/${people[key].id}`, { role }), 200);
  }
}
