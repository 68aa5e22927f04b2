import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { manifestOf } from '#test/support/plugins/plugin-world.ts';
import { addUser, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

interface Listed {
  readonly id: string;
  readonly installation_id: string;
  readonly name: string;
}

it('the actions of all plugins that the caller may read are listed in pages, except those of removed plugins', async () => {
  const [first, second, removed, stranger] = [
    await stagePlugin(api),
    await stagePlugin(api, 'organization'),
    await stagePlugin(api),
    await stagePlugin(api),
  ];
  await removed.root.remove(removed.installation);
  const teams = { [first.team]: 'viewer', [removed.team]: 'viewer' } as const;
  const organizations = { [second.organization]: 'member' } as const;
  const reader = await addUser(api, 'requester', { teams, organizations });
  const found: Listed[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? 'limit=1' : `limit=1&cursor=${cursor}`;
    const { status, body } = await reader.client.send('GET', `/plugin-actions?${query}`);
    expect(status).toBe(200);
    expect(body.actions.length).toBeLessThanOrEqual(1);
    found.push(...body.actions);
    cursor = body.next_cursor;
  } while (cursor !== null);
  const of = (installation: string) =>
    found.filter((each) => each.installation_id === installation).map(({ name }) => name);
  for (const { installation } of [first, second])
    expect(of(installation).sort(), installation).toEqual(['zone.read', 'zone.sync']);
  expect(found).toHaveLength(4);
  const answer = await reader.client.send('GET', `/plugin-actions?installation_id=${stranger.installation}`);
  expect(answer.status).toBe(404);
});

it('an action in a list is approved while a current ceiling contains it', async () => {
  const { root, installation } = await stagePlugin(api);
  const approved = async () => {
    const { actions } = await root.read(`/plugin-actions?installation_id=${installation}`);
    return actions.filter(({ approved: is }: { approved: boolean }) => is).map(({ name }: Listed) => name);
  };
  expect((await approved()).sort()).toEqual(['zone.read', 'zone.sync']);
  await root.approve(installation, ['zone.sync']);
  expect(await approved()).toEqual(['zone.sync']);
  await root.stage(installation, manifestOf('2.0.0', { actions: [], executions: [] }));
  await root.activate(installation, '2.0.0');
  expect(await approved()).toEqual([]);
});

it('every entry of a list of plugins has the owners that its commands require, as its own read has', async () => {
  const { root, installation, sync, environment, team, project, organization } = await stagePlugin(api, 'organization');
  const selector = { type: 'environment', id: environment };
  const background = await root.approveBackground(installation, sync, selector);
  await root.assign(sync, { type: 'background_principal', id: background }, selector);
  const { expected_ownership: owners } = await root.assignmentOf(sync, {}, selector);
  await root.createResource(installation, { environment_id: environment }, owners);
  expect(owners).toMatchObject({
    organization_id: organization,
    team_id: team,
    project_id: project,
    environment_id: environment,
    environment_revision: 1,
  });
  const lists = {
    '/plugin-action-grants': 'grants',
    '/plugin-background-principals': 'background_principals',
    '/plugin-resources': 'resources',
  };
  for (const [path, member] of Object.entries(lists)) {
    const [entry] = (await root.read(`${path}?installation_id=${installation}`))[member];
    expect(entry.ownership, path).toEqual(owners);
    expect((await root.read(`${path}/${entry.id}`)).ownership, path).toEqual(owners);
  }
  const [installed] = (await root.read(`/plugin-installations?organization_id=${organization}`)).installations;
  expect(installed.ownership).toEqual((await root.read(`/plugin-installations/${installation}`)).ownership);
});
