import { randomUUID } from 'node:crypto';
import type { OrganizationRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
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

/**
 * Makes two users members of an organization of their own, directly in the database, so that either can add the other elsewhere.
 * Answers how to end that.
 */
export async function acquaint(one: ApiUser, other: ApiUser): Promise<() => Promise<void>> {
  const [id, slug] = [randomUUID(), `met-${randomUUID()}`];
  await one.api.rows(
    `with place as (insert into organizations (id, name, slug, created_at) values (?, 'Met', ?, now()) returning id)
     insert into organization_members (id, organization_id, principal_id, role, created_at)
     select gen_random_uuid(), place.id, principal, 'member', now() from place, unnest(?::uuid[]) principal`,
    [id, slug, `{${one.id},${other.id}}`],
  );
  return async () => {
    await one.api.rows('delete from organization_members where organization_id = ?', [id]);
    await one.api.rows('delete from organizations where id = ?', [id]);
  };
}

/** Adds a user to the tenant's organization and, where a role in it is given, to its team. They need not know its owner. */
export async function join(
  tenant: Tenant,
  user: ApiUser,
  organization: OrganizationRole,
  team?: TeamRole,
): Promise<void> {
  const paths: [string, string][] = [[`/organizations/${tenant.organization}`, organization]];
  if (team) paths.push([tenant.teamPath, team]);
  const part = await acquaint(tenant.owner, user);
  for (const [path, role] of paths) {
    const { status, text } = await tenant.owner.put(`${path}/members/${user.id}`, { role });
    if (status !== 200) throw new Error(`joining ${path} answered ${status}: ${text}`);
  }
  await part();
}
