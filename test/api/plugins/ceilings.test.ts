import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { sendCommand } from '#test/support/plugins/plugin-world.ts';
import { addUser, type PluginStage, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const code = ({ headers, status }: { headers: unknown; status: number }) => [
  status,
  (headers as Record<string, string>)['x-error-code'],
];

describe('a ceiling', () => {
  const replace = ({ root, installation }: PluginStage, body: object) => root.replaceCeiling(installation, body);

  it.each(['actions', 'executions'])('setting a ceiling without %s answers 400', async (missing) => {
    const stage = await stagePlugin(api);
    const body: Record<string, unknown> = { actions: [], executions: [] };
    delete body[missing];
    expect((await replace(stage, body)).status).toBe(400);
  });

  it('has executions with the present release and revision, and refuses others', async () => {
    const stage = await stagePlugin(api);
    const execution = { name: 'nightly', release: '1.0.0', installation_revision: 2 };
    const actions = ['zone.sync'];
    expect((await replace(stage, { actions, executions: [execution] })).status).toBe(200);
    const stale = { ...execution, installation_revision: 1 };
    expect(code(await replace(stage, { actions, executions: [stale] }))).toEqual([409, 'stale_revision']);
    const other = { ...execution, release: '0.9.0' };
    expect((await replace(stage, { actions, executions: [other] })).status).toBe(409);
  });

  it('approves an execution only together with the action that it uses', async () => {
    const stage = await stagePlugin(api);
    const execution = { name: 'nightly', release: '1.0.0', installation_revision: 2 };
    const refused = await replace(stage, { actions: ['zone.read'], executions: [execution] });
    expect([refused.status, refused.body.error]).toEqual([
      400,
      'executions[0].name: "nightly" uses the action "zone.sync": approve that too',
    ]);
  });

  it('denies its entries once it is stale, and accepts them again only with the active release and revision', async () => {
    const stage = await stagePlugin(api);
    const { root, installation } = stage;
    const execution = { name: 'nightly', release: '1.0.0', installation_revision: 2 };
    expect((await replace(stage, { actions: ['zone.sync'], executions: [execution] })).status).toBe(200);
    await root.activate(installation, '1.0.0');
    const path = `/plugin-installations/${installation}`;
    expect(await root.read(`${path}/ceiling`)).toMatchObject({ current: false, executions: [{ in_force: false }] });
    expect((await root.read(`${path}/actions`)).actions).toMatchObject([{ approved: false }, { approved: false }]);
    const actions = ['zone.sync'];
    expect(code(await replace(stage, { actions, executions: [execution] }))).toEqual([409, 'stale_revision']);
    const fresh = { ...execution, installation_revision: 3 };
    expect((await replace(stage, { actions, executions: [fresh] })).status).toBe(200);
    expect(await root.read(`${path}/ceiling`)).toMatchObject({ current: true, executions: [{ in_force: true }] });
  });

  it('a current ceiling is replaced only with its present revision', async () => {
    const { root, installation } = await stagePlugin(api);
    const path = `/plugin-installations/${installation}`;
    const body = { actions: [], executions: [], ...(await root.stateOf(path)) };
    const put = (more: object, headers: Record<string, string> = {}) =>
      root.client.send('PUT', `${path}/ceiling`, { ...body, ...more }, { 'idempotency-key': randomUUID(), ...headers });
    expect((await put({})).status).toBe(400);
    expect((await put({}, { 'if-match': '"1"' })).status).toBe(400);
    const unread = await put({ expected_ceiling_revision: 0 });
    expect([code(unread), unread.body.error]).toEqual([
      [409, 'stale_revision'],
      expect.stringContaining('0 is stale, the ceiling has the revision 1'),
    ]);
    const read = { expected_ceiling_revision: 1 };
    const answers = await Promise.all([put(read), put(read)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { headers } = await root.client.send('GET', `${path}/ceiling`);
    const { etag } = headers as Record<string, string>;
    expect(etag).toBe('"2"');
    expect((await put(read, { 'if-match': '"1"' })).status).toBe(409);
    expect((await put({ expected_ceiling_revision: 3 }, { 'if-match': '"2"' })).status).toBe(400);
    expect((await put({ expected_ceiling_revision: 2 }, { 'if-match': etag ?? '' })).status).toBe(200);
  });

  it('a ceiling that was never set is set with the revision 0, and a stale one with its own revision', async () => {
    const { root, installation } = await stagePlugin(api);
    await root.activate(installation, '1.0.0');
    const path = `/plugin-installations/${installation}`;
    const body = { actions: [], executions: [], ...(await root.stateOf(path)) };
    const put = (expected_ceiling_revision: number) =>
      root.command(['PUT', `${path}/ceiling`], { ...body, expected_ceiling_revision });
    expect(code(await put(0))).toEqual([409, 'stale_revision']);
    const answers = await Promise.all([1, 1].map(put));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('refuses names that the active release does not declare', async () => {
    const stage = await stagePlugin(api);
    const answer = await replace(stage, { actions: ['zone.sync', 'zone.drop'], executions: [] });
    expect([answer.status, answer.body.error]).toEqual([400, 'actions[1]: no action "zone.drop" is declared']);
  });

  it('requires settings.manage, and gives its author no rights', async () => {
    const stage = await stagePlugin(api);
    const { root, installation, team } = stage;
    const owner = await addUser(api, 'maintainer', { teams: { [team]: 'owner' } });
    const path = `/plugin-installations/${installation}`;
    const body = { actions: [], executions: [], ...(await root.stateOf(path)) };
    expect((await sendCommand(owner.client, ['PUT', `${path}/ceiling`], body)).status).toBe(403);
    const { body: checked } = await root.client.send('POST', `/plugin-actions/${stage.sync}/check`, {
      selector: { type: 'team', id: team },
    });
    expect(checked.allowed).toBe(false);
  });
});
