import type { Orm } from '#database/database.ts';
import { addEnvironment, addPerson, addTeam, type Memberships, type Person } from '../access/people.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { manifestOf, PluginAdministrator, type PluginClient } from './plugin-world.ts';

/** An installed and approved plugin of a team, with who administers it and a place for it. */
export interface PluginStage {
  readonly organization: string;
  readonly team: string;
  readonly project: string;
  readonly environment: string;
  /** An administrator of the whole installation. */
  readonly root: PluginAdministrator;
  readonly installation: string;
  readonly sync: string;
}

/** A client of an API in process, for a user or an account that was added to its database. */
export function clientOf(api: TestApi, { key }: Pick<Person, 'key'>): PluginClient {
  return {
    send: async (method, path, body, headers = {}) => {
      const response = await api.app.inject({
        method: method as 'GET',
        url: `/api/v1${path}`,
        headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      });
      const text = response.body;
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      return {
        status: response.statusCode,
        text,
        headers: response.headers,
        body: isJson && text ? JSON.parse(text) : undefined,
      };
    },
  };
}

/** Adds a user, with a client. */
export async function addUser(
  api: TestApi,
  role: Parameters<typeof addPerson>[1],
  memberships: Memberships = {},
): Promise<{ id: string; client: PluginClient }> {
  const person = await addPerson({ url: '', orm: api.services.orm }, role, memberships);
  return { id: person.id, client: clientOf(api, person) };
}

/** A plugin that is installed, and of which no release is known. */
export async function installPlugin(api: TestApi) {
  const { organizationId, teamId } = await addTeam(api.services.orm);
  const root = new PluginAdministrator((await addUser(api, 'admin')).client);
  const ownership = { organization_id: organizationId, team_id: teamId, team_revision: 1 };
  const installation = await root.install({ team_id: teamId }, ownership);
  return { root, installation, path: `/plugin-installations/${installation}` };
}

/** Installs a plugin in a new team or its organization, activates its release 1.0.0 and approves its actions. */
export async function stagePlugin(api: TestApi, owner: 'team' | 'organization' = 'team'): Promise<PluginStage> {
  return stageFor(api.services.orm, new PluginAdministrator((await addUser(api, 'admin')).client), owner);
}

/** `stagePlugin` with an administrator of any API on the database. */
export async function stageFor(
  orm: Orm,
  root: PluginAdministrator,
  owner: 'team' | 'organization' = 'team',
): Promise<PluginStage> {
  const { organizationId: organization, teamId: team } = await addTeam(orm);
  const { projectId: project, environmentId: environment } = await addEnvironment(orm, team);
  const installation: string =
    owner === 'team'
      ? await root.install({ team_id: team }, { organization_id: organization, team_id: team, team_revision: 1 })
      : await root.install({ organization_id: organization }, { organization_id: organization });
  await root.stage(installation, manifestOf('1.0.0'));
  await root.activate(installation, '1.0.0');
  await root.approve(installation, ['zone.sync', 'zone.read']);
  const sync = await root.actionId(installation, 'zone.sync');
  return { organization, team, project, environment, root, installation, sync };
}
