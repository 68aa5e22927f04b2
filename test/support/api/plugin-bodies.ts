import { encode, manifestOf } from '../plugins/plugin-world.ts';
import { ownershipOf } from '../plugins/tenant-plugin.ts';
import type { Ids } from './tenant-ids.ts';

const owned = (ids: Ids) => ({ expected_ownership: ownershipOf(ids) });
const first = (ids: Ids) => ({ expected_revision: 1, ...owned(ids) });
/** The plugin of a tenant has been activated once. */
const activated = (ids: Ids) => ({ expected_revision: 2, ...owned(ids) });
const forInstallation = (ids: Ids) => ({ expected_installation_revision: 2, ...owned(ids) });
const selector = ({ team }: Ids) => ({ type: 'team', id: team });

/** Example bodies of the plugin operations, for a tenant with the plugin of `addPlugin`. */
export const pluginBodies: Readonly<Record<string, (ids: Ids) => object>> = {
  'plugin_installations.create': (ids) => ({ name: 'Another', team_id: ids.team, ...owned(ids) }),
  'plugin_installations.delete': activated,
  'plugin_installations.stage_manifest': (ids) => ({
    release: '2.0.0',
    ...encode(manifestOf('2.0.0')),
    ...activated(ids),
  }),
  'plugin_installations.activate': (ids) => ({ release: '1.0.0', ...activated(ids) }),
  'plugin_installations.replace_ceiling': (ids) => ({
    actions: ['zone.read'],
    executions: [],
    expected_ceiling_revision: 1,
    ...activated(ids),
  }),
  'plugin_actions.check': (ids) => ({ selector: selector(ids) }),
  'plugin_actions.review_grant': (ids) => ({ selector: selector(ids) }),
  'plugin_action_grants.create': (ids) => ({
    action_id: ids.pluginAction,
    subject: { type: 'user', id: ids.person },
    selector: selector(ids),
    expected_action_revision: 1,
    ...forInstallation(ids),
  }),
  'plugin_action_grants.revoke': first,
  'plugin_background_principals.approve': (ids) => ({
    installation_id: ids.plugin,
    name: 'Another',
    selector: selector(ids),
    ...forInstallation(ids),
  }),
  'plugin_background_principals.revoke': first,
  'plugin_resources.create': (ids) => ({
    installation_id: ids.plugin,
    type: 'zone',
    name: 'Another zone',
    key: 'zone-2',
    team_id: ids.team,
    ...owned(ids),
  }),
  'plugin_resources.delete': first,
  'plugin_resources.restore': first,
};
