import type { HttpClient } from './http-client.ts';

/** An organization with a team, whose environment receives runs. */
export interface Tenant {
  readonly organizationId: string;
  readonly teamId: string;
  readonly environmentId: string;
}

export async function createTenant(http: HttpClient, settings: object = {}, slug = 'bench'): Promise<Tenant> {
  const organization = await http.call('POST', '/organizations', { name: 'Bench', slug });
  const team = await http.call('POST', `/organizations/${organization.id}/teams`, {
    name: 'Platform',
    slug: 'platform',
  });
  const project = await http.call('POST', '/projects', { team_id: team.id, name: 'Shop', slug: 'shop' });
  const environment = await http.call('POST', '/environments', {
    project_id: project.id,
    name: 'Test',
    slug: 'test',
    kind: 'development',
    ...settings,
  });
  return { organizationId: organization.id, teamId: team.id, environmentId: environment.id };
}

/** Creates a template of a team and publishes its version 1.0.0. @returns the template's id */
export async function publish(http: HttpClient, teamId: string, slug: string, spec: object): Promise<string> {
  const template = await http.call('POST', '/registry/templates', { name: slug, slug, team_id: teamId });
  await http.call('POST', `/registry/templates/${template.id}/versions`, { version: '1.0.0', spec });
  return template.id;
}

/** The spec of a command template whose only apply step runs this command. */
export function command(...run: string[]): object {
  return { executor: { kind: 'command', apply: [{ name: 'work', run }] } };
}
