import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { manifestOf, type PluginAnswer, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { addUser, type PluginStage, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const code = ({ headers, status }: PluginAnswer) => [status, (headers as Record<string, string>)['x-error-code']];

async function ownershipOf({ root, sync }: PluginStage, selector: object) {
  return (await root.assignmentOf(sync, {}, selector)).expected_ownership;
}

/** A plugin of an organization, with a resource of one of its teams and the administrator of another. */
async function stageTeams() {
  const stage = await stagePlugin(api, 'organization');
  const { root, team, organization, installation } = stage;
  const owner = { team_id: team };
  const ownership = await ownershipOf(stage, { type: 'team', id: team });
  const resource = await root.createResource(installation, owner, ownership, 'a.example');
  const other = (await root.command(['POST', `/organizations/${organization}/teams`], { name: 'Other' })).body.id;
  const dave = await addUser(api, 'maintainer', { teams: { [other]: 'admin' } });
  const register = async (key: string) => {
    const expected_ownership = await ownershipOf(stage, { type: 'team', id: other });
    const body = { installation_id: installation, type: 'zone', name: key, key, team_id: other, expected_ownership };
    return sendCommand(dave.client, ['POST', '/plugin-resources'], body);
  };
  return { ...stage, owner, ownership, resource, register };
}

/** A resource that was deleted, and the restoration in its `actions`. */
async function deleteResource(owner: 'team' | 'organization' = 'team') {
  const stage = await stagePlugin(api, owner);
  const { root, installation, project } = stage;
  const ownership = await ownershipOf(stage, { type: 'project', id: project });
  const resource = await root.createResource(installation, { project_id: project }, ownership);
  await root.deleteResource(resource);
  const path = `/plugin-resources/${resource}`;
  const described = async () => {
    const { actions } = await root.read(path);
    return actions.find(({ name }: { name: string }) => name === 'restore');
  };
  expect(await described()).toEqual({ name: 'restore', allowed: true, reason: null });
  return { ...stage, resource, described, path };
}

describe('the key of a resource', () => {
  it('is reserved for its team after the resource was deleted, with the same refusal as before', async () => {
    const { root, resource, register, installation, owner, ownership } = await stageTeams();
    const before = await register('a.example');
    expect(code(before)).toEqual([409, 'name_taken']);
    expect(before.body.error).toBe('key: it is taken for resources of this type: choose another one');
    await root.deleteResource(resource);
    const after = await register('a.example');
    expect([code(after), after.body]).toEqual([code(before), before.body]);
    expect((await register('b.example')).status).toBe(201);
    await root.createResource(installation, owner, ownership, 'a.example');
  });

  it('can be used again by its own team, and then the deleted resource cannot be restored', async () => {
    const { root, resource, installation, owner, ownership } = await stageTeams();
    await root.deleteResource(resource);
    const second = await root.createResource(installation, owner, ownership, 'a.example');
    const refused = await root.restore(resource);
    expect(code(refused)).toEqual([409, 'name_taken']);
    expect(refused.body.error).toContain('another resource was registered under its key meanwhile');
    const { actions } = await root.read(`/plugin-resources/${resource}`);
    expect(actions).toContainEqual({ name: 'restore', allowed: false, reason: refused.body.error });
    await root.deleteResource(second);
    const { actions: later } = await root.read(`/plugin-resources/${resource}`);
    expect(later).toContainEqual({ name: 'restore', allowed: true, reason: null });
  });
});

describe('the actions of a deleted resource', () => {
  const changes: Readonly<Record<string, (stage: Awaited<ReturnType<typeof deleteResource>>) => Promise<unknown>>> = {
    'its project was given to another team': async ({ root, organization, project }) => {
      const { id } = (await root.command(['POST', `/organizations/${organization}/teams`], { name: 'Other' })).body;
      const { revision } = await root.read(`/projects/${project}`);
      const move = { team_id: id, expected_revision: revision };
      return root.command(['POST', `/projects/${project}/transfer`], move);
    },
    'its project was archived': ({ root, project }) => root.command(['POST', `/projects/${project}/archive`], {}),
    'its project was deleted': async ({ root, project, environment }) => {
      await root.command(['DELETE', `/environments/${environment}`]);
      return root.command(['DELETE', `/projects/${project}`]);
    },
    'another release declares no such resources': async ({ root, installation }) => {
      await root.stage(installation, manifestOf('2.0.0', { resources: [] }));
      return root.activate(installation, '2.0.0').then((body) => ({ status: 200, body }));
    },
  };

  it.each(Object.entries(changes))('have the same refusal as the restoration once %s', async (_name, change) => {
    const stage = await deleteResource('organization');
    expect(await change(stage)).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
    const refused = await stage.root.restore(stage.resource);
    expect([refused.status, refused.body.error]).toEqual([409, expect.any(String)]);
    expect(await stage.described()).toEqual({ name: 'restore', allowed: false, reason: refused.body.error });
  });
});

it('a resource of a team that left the organization of its plugin can be deleted there, and not restored', async () => {
  const { root, resource, organization, team } = await stageTeams();
  const { id } = (await root.command(['POST', '/organizations'], { name: `Elsewhere ${team.slice(-12)}` })).body;
  const path = `/organizations/${organization}/teams/${team}/transfer`;
  expect((await root.command(['POST', path], { organization_id: id })).status).toBe(200);
  await root.deleteResource(resource);
  const refused = await root.restore(resource);
  expect(code(refused)).toEqual([409, 'plugin_parent_changed']);
  expect(refused.body.error).toContain('no longer belongs to the organization or team that installed the plugin');
  const { actions } = await root.read(`/plugin-resources/${resource}`);
  expect(actions).toContainEqual({ name: 'restore', allowed: false, reason: refused.body.error });
});
