import { newId } from '#domain/shared/ids.ts';
import { manifestOf, noOwnership, PluginAdministrator, type PluginClient } from './plugin-world.ts';

/** The owners of a team that was never changed, as commands name them. */
export function ownershipOf({ organization, team }: { organization: string; team: string }) {
  return { ...noOwnership, organization_id: organization, team_id: team, team_revision: 1 };
}

/** Installs a plugin in a team, with an assigned action, a background principal and a resource. */
export async function addPlugin(caller: PluginClient, { organization, team }: { organization: string; team: string }) {
  const root = new PluginAdministrator(caller);
  const selector = { type: 'team', id: team };
  const ownership = ownershipOf({ organization, team });
  const plugin: string = await root.install({ team_id: team }, ownership, `dns ${newId()}`);
  await root.stage(plugin, manifestOf('1.0.0'));
  await root.activate(plugin, '1.0.0');
  await root.approve(plugin, ['zone.sync', 'zone.read']);
  const pluginAction = await root.actionId(plugin, 'zone.sync');
  const pluginBackground = await root.approveBackground(plugin, pluginAction, selector);
  const pluginResource = await root.createResource(plugin, { team_id: team }, ownership);
  await root.assign(pluginAction, { type: 'background_principal', id: pluginBackground }, selector);
  const { grants } = await root.read(`/plugin-action-grants?installation_id=${plugin}`);
  return { plugin, pluginAction, pluginBackground, pluginResource, pluginGrant: grants[0].id as string };
}
