import { manifestOf, PluginAdministrator } from '../../plugins/plugin-world.ts';
import type { People } from '../people.ts';
import { clientOf } from '../plugins.ts';
import { hostileName, longWord, savedName } from './texts.ts';

/** A manifest may not name what turns the direction of text. */
const declaredName = savedName();

/** Adds a plugin of a team whose names attack the pages that show them, with a background principal and a resource. */
export async function addHostilePlugin(
  { admin }: People,
  { organization, team }: { readonly organization: string; readonly team: string },
): Promise<{ plugin: string; pluginResource: string }> {
  const root = new PluginAdministrator(clientOf(admin));
  const { revision } = await root.read(`/organizations/${organization}/teams/${team}`);
  const ownership = { organization_id: organization, team_id: team, team_revision: revision };
  const id: string = await root.install({ team_id: team }, ownership, savedName());
  const hostileRoot = { schema: longWord(63), table: longWord(63), key: hostileName().slice(0, 20) };
  const resources = [{ type: 'zone', roots: [hostileRoot] }];
  const release = `1.0.0-${longWord(90)}`.slice(0, 100);
  await root.stage(id, manifestOf(release, { name: declaredName, resources }));
  await root.activate(id, release);
  await root.approve(id, ['zone.sync']);
  const selector = { type: 'team', id: team };
  const sync = await root.actionId(id, 'zone.sync');
  const nightly = await root.approveBackground(id, sync, selector, savedName());
  await root.assign(sync, { type: 'background_principal', id: nightly }, selector);
  const { expected_ownership } = await root.stateOf(`/plugin-installations/${id}`);
  const zone = await root.createResource(id, { team_id: team }, expected_ownership, savedName());
  return { plugin: id, pluginResource: zone };
}
