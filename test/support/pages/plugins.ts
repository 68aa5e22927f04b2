import { manifestOf, noOwnership, PluginAdministrator, type PluginClient } from '../plugins/plugin-world.ts';
import type { People } from './people.ts';
import type { Tenants } from './tenants.ts';

/** Plugins by what they show. */
export interface SeededPlugins {
  /** Of a team, with assignments that are in force and others that have ended, and a resource that was deleted. */
  readonly dns: string;
  /** A resource of it. */
  readonly zone: string;
  /** Of an organization, of which nothing is known yet. */
  readonly empty: string;
  /** Whose ceiling is for an earlier release. */
  readonly stale: string;
  /** Which was removed, with an assignment and a ceiling. */
  readonly removed: string;
}

/** Adds plugins of Northwind in every state. */
export async function addPlugins(people: People, { organizations, teams }: Tenants): Promise<SeededPlugins> {
  const root = new PluginAdministrator(clientOf(people.admin));
  const [organization, team] = [organizations.northwind.id, teams.platform.id];
  const { revision } = await root.read(`/organizations/${organization}/teams/${team}`);
  const ownership = {
    ...noOwnership,
    organization_id: organization,
    team_id: team,
    team_revision: revision,
  };
  const install = async (name: string, release: string | null) => {
    const id = await root.install({ team_id: team }, ownership, name);
    if (release) {
      await root.stage(
        id,
        manifestOf(release, { resources: [{ type: 'zone', roots: [{ schema: 'dns', table: 'zones', key: 'id' }] }] }),
      );
      await root.activate(id, release);
      await root.approve(id, ['zone.sync'], [{ name: 'nightly', release, installation_revision: 2 }]);
    }
    return id;
  };
  const dns = await install('DNS zones', '1.4.0');
  await root.stage(dns, manifestOf('1.5.0-beta.1'));
  const zone = await fillDns(root, people, { dns, team, ownership });
  const stale = await install('Certificates', '2.0.0');
  await root.activate(stale, '2.0.0');
  const removed = await install('Old mail relay', '1.0.0');
  const relay = await root.actionId(removed, 'zone.sync');
  await root.assign(relay, { type: 'user', id: people.maintainer.id }, { type: 'team', id: team });
  await root.remove(removed);
  const empty: string = await root.install(
    { organization_id: organization },
    { organization_id: organization },
    'Cost reports',
  );
  return { dns, zone, stale, removed, empty };
}

async function fillDns(
  root: PluginAdministrator,
  people: People,
  { dns, team, ownership }: { dns: string; team: string; ownership: object },
): Promise<string> {
  const selector = { type: 'team', id: team };
  const sync = await root.actionId(dns, 'zone.sync');
  await root.assign(sync, { type: 'user', id: people.maintainer.id }, selector);
  const grant = await root.assign(sync, { type: 'user', id: people.requester.id }, selector);
  await root.revoke(grant, ownership);
  const nightly = await root.approveBackground(dns, sync, selector, 'Nightly synchronization');
  await root.assign(sync, { type: 'background_principal', id: nightly }, selector);
  const zone = await root.createResource(dns, { team_id: team }, ownership, 'northwind.example');
  await root.deleteResource(await root.createResource(dns, { team_id: team }, ownership, 'old.northwind.example'));
  return zone;
}

export function clientOf(person: People[keyof People]): PluginClient {
  return { send: (method, path, body, headers) => person.send(method as 'GET', path, body, headers) };
}
