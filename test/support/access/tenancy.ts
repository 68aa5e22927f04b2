import type { OrganizationRole } from '#domain/organizations/model.ts';
import type { TeamRole } from '#domain/teams/model.ts';
import type { ApiUser, TestApi } from '../api/in-process-api.ts';

/** An organization with a team, a project and an environment, all owned by one user. */
export interface Tenant {
  readonly owner: ApiUser;
  readonly organization: string;
  readonly team: string;
  /** `/organizations/{id}/teams/{id}` */
  readonly teamPath: string;
  readonly project: string;
  readonly environment: string;
}

let made = 0;

/** Creates a tenant through the API, as its owner. */
export async function makeTenant(api: TestApi, environment: Record<string, unknown> = {}): Promise<Tenant> {
  const owner = await api.addUser('maintainer');
  const organization = await owner.make('/organizations', { name: `Tenant ${++made}` });
  const team = await owner.make(`/organizations/${organization.id}/teams`, { name: 'Core' });
  const project = await owner.make('/projects', { team_id: team.id, name: 'Network' });
  const first = await owner.make('/environments', {
    project_id: project.id,
    name: 'Development',
    kind: 'development',
    ...environment,
  });
  return {
    owner,
    organization: organization.id,
    team: team.id,
    project: project.id,
    environment: first.id,
    teamPath: `/organizations/${organization.id}/teams/${team.id}`,
  };
}

/** Adds a user to the tenant's organization and, where a role in it is given, to its team. */
export async function join(
  tenant: Tenant,
  user: ApiUser,
  organization: OrganizationRole,
  team?: TeamRole,
): Promise<void> {
  const paths: [string, string][] = [[`/organizations/${tenant.organization}`, organization]];
  if (team) paths.push([tenant.teamPath, team]);
  for (const [path, role] of paths) {
    const { status, text } = await tenant.owner.put(`${path}/members/${user.id}`, { role });
    if (status !== 200) throw new Error(`joining ${path} answered ${status}: ${text}`);
  }
}
