import type { TestApi } from '../api/in-process-api.ts';
import { encode, manifestOf, type PluginAnswer, sendCommand } from './plugin-world.ts';
import { type PluginStage, stagePlugin } from './stage.ts';

/** A request that breaks each rule of plugins, by the code of the rule. */
export const pluginRefusals: Readonly<Record<string, (api: TestApi) => Promise<PluginAnswer>>> = {
  ownership_changed: (api) =>
    onInstallation(api, ['POST', '/activate'], (state) => ({
      release: '1.0.0',
      ...state,
      expected_ownership: { ...state.expected_ownership, team_revision: 9 },
    })),
  plugin_release_unknown: (api) =>
    onInstallation(api, ['POST', '/activate'], (state) => ({ release: '9.0.0', ...state })),
  plugin_release_differs: (api) =>
    onInstallation(api, ['POST', '/manifests'], (state) => ({
      release: '1.0.0',
      ...encode(manifestOf('1.0.0', { name: 'other' })),
      ...state,
    })),
  plugin_manifest_missing: async (api) => {
    const { root, installation } = await stagePlugin(api);
    const path = `/plugin-installations/${installation}`;
    const { digest } = encode(manifestOf('2.0.0'));
    const announced = { release: '2.0.0', digest, ...(await root.stateOf(path)) };
    await sendCommand(root.client, ['POST', `${path}/manifests`], announced);
    await root.activate(installation, '2.0.0');
    const { revision: expected_ceiling_revision } = await root.read(`${path}/ceiling`);
    const body = { actions: [], executions: [], expected_ceiling_revision, ...(await root.stateOf(path)) };
    return sendCommand(root.client, ['PUT', `${path}/ceiling`], body);
  },
  plugin_action_not_declared: async (api) => {
    const stage = await stagePlugin(api);
    const { root, installation } = stage;
    await root.stage(installation, manifestOf('2.0.0', { actions: [], executions: [] }));
    await root.activate(installation, '2.0.0');
    return assign(stage);
  },
  plugin_action_not_approved: async (api) => {
    const stage = await stagePlugin(api);
    await stage.root.approve(stage.installation, []);
    return assign(stage);
  },
  plugin_assigned_already: async (api) => {
    const stage = await stagePlugin(api);
    const subject = await addBackground(stage);
    await assign(stage, subject);
    return assign(stage, subject);
  },
  plugin_assignment_revoked: async (api) => {
    const stage = await stagePlugin(api);
    const { root, sync, team } = stage;
    const { id } = (await assign(stage)).body;
    const { expected_ownership } = await root.assignmentOf(sync, {}, { type: 'team', id: team });
    await root.revoke(id, expected_ownership);
    return sendCommand(root.client, ['DELETE', `/plugin-action-grants/${id}`], {
      expected_revision: 2,
      expected_ownership,
    });
  },
  plugin_removed: async (api) => {
    const { root, installation } = await stagePlugin(api);
    await root.remove(installation);
    return root.remove(installation);
  },
  plugin_resource_deleted: async (api) => {
    const { root, path } = await deleteResource(api);
    return sendCommand(root.client, ['DELETE', path], await root.stateOf(path));
  },
  plugin_resource_not_deleted: async (api) => {
    const { root, path } = await addResource(api);
    return sendCommand(root.client, ['POST', `${path}/restore`], await root.stateOf(path));
  },
  plugin_parent_changed: async (api) => {
    const { root, path, resource } = await deleteResource(api);
    await api.rows(`update plugin_resources set deleted_from = deleted_from || '{"team_id": "other"}' where id = ?`, [
      resource,
    ]);
    return sendCommand(root.client, ['POST', `${path}/restore`], await root.stateOf(path));
  },
  plugin_declaration_changed: async (api) => {
    const { root, path, installation } = await deleteResource(api);
    await root.stage(installation, manifestOf('2.0.0', { resources: [] }));
    await root.activate(installation, '2.0.0');
    return sendCommand(root.client, ['POST', `${path}/restore`], await root.stateOf(path));
  },
};

type State = Awaited<ReturnType<PluginStage['root']['stateOf']>>;

async function onInstallation(
  api: TestApi,
  [method, rest]: readonly [string, string],
  bodyOf: (state: State) => object,
): Promise<PluginAnswer> {
  const { root, installation } = await stagePlugin(api);
  const path = `/plugin-installations/${installation}`;
  return sendCommand(root.client, [method, `${path}${rest}`], bodyOf(await root.stateOf(path)));
}

async function addBackground({ root, installation, sync, team }: PluginStage): Promise<object> {
  const id = await root.approveBackground(installation, sync, { type: 'team', id: team });
  return { type: 'background_principal', id };
}

async function assign(stage: PluginStage, subject?: object): Promise<PluginAnswer> {
  const { root, sync, team } = stage;
  const assigned = subject ?? (await addBackground(stage));
  const body = await root.assignmentOf(sync, assigned, { type: 'team', id: team });
  return sendCommand(root.client, ['POST', '/plugin-action-grants'], body);
}

async function addResource(api: TestApi) {
  const stage = await stagePlugin(api);
  const { expected_ownership } = await stage.root.stateOf(`/plugin-installations/${stage.installation}`);
  const resource = await stage.root.createResource(stage.installation, { team_id: stage.team }, expected_ownership);
  return { ...stage, resource, path: `/plugin-resources/${resource}` };
}

async function deleteResource(api: TestApi) {
  const stage = await addResource(api);
  await stage.root.deleteResource(stage.resource);
  return stage;
}
