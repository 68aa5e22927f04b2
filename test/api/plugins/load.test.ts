import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { check } from '#test/support/plugins/plugin-world.ts';
import { addUser, type PluginStage, stagePlugin } from '#test/support/plugins/stage.ts';
import { within } from '#test/support/slowness.ts';

let api: TestApi;
let stage: PluginStage;
let neighbour: PluginStage;

beforeAll(async () => {
  api = await startApi();
  [stage, neighbour] = [await stagePlugin(api), await stagePlugin(api)];
});
afterAll(() => api?.close());

/** A member of the team of a plugin, to whom its action is assigned in the team. */
async function addAssigned({ root, sync, team }: PluginStage) {
  const member = await addUser(api, 'requester', { teams: { [team]: 'member' } });
  const grant = await root.assign(sync, { type: 'user', id: member.id }, { type: 'team', id: team });
  const ask = () => check(member.client, sync, { type: 'team', id: team });
  return { member, grant, ask };
}

/** Creates the maximum of older assignments of a team, all for the same person and place, so that a check reads all of them. */
async function copyOften(grant: string): Promise<void> {
  await api.rows(
    `insert into plugin_action_grants (id, installation_id, action_id, subject_type, subject_id, selector_type, selector_id, basis,
         owner_id, granted_by, revision, created_at)
       select ('00000000' || right(gen_random_uuid()::text, 28))::uuid, g.installation_id, g.action_id, g.subject_type, g.subject_id, g.selector_type, g.selector_id, g.basis,
         g.owner_id, g.granted_by, 1, now() from plugin_action_grants g, generate_series(1, 9999) where g.id = ?`,
    [grant],
  );
  await api.rows('analyze plugin_action_grants', []);
}

describe('the checks of a plugin', () => {
  it('answer soon to a user with 10,000 ended assignments, and to another tenant while that user sends many', async () => {
    const busy = await addAssigned(stage);
    const quiet = await addAssigned(neighbour);
    await copyOften(busy.grant);
    await stage.root.activate(stage.installation, '1.0.0');
    await stage.root.approve(stage.installation, ['zone.sync', 'zone.read']);
    expect(await within(1_000, busy.ask)).toMatchObject({ allowed: false, reason: { code: 'release_changed' } });
    const selector = { type: 'team', id: stage.team };
    await stage.root.assign(stage.sync, { type: 'user', id: busy.member.id }, selector);
    expect(await within(1_000, busy.ask)).toMatchObject({ allowed: true });
    const many = Promise.all(Array.from({ length: 20 }, busy.ask));
    expect(await within(1_500, quiet.ask)).toMatchObject({ allowed: true });
    const answers = await within(20_000, () => many);
    expect(answers.every(({ allowed }) => allowed)).toBe(true);
  });

  it('answer another tenant soon while one user sends 100, and refuse the excess with 429 and Retry-After', async () => {
    const busy = await addAssigned(stage);
    const quiet = await addAssigned(neighbour);
    await copyOften(busy.grant);
    const selector = { type: 'team', id: stage.team };
    const ask = (path: string) =>
      busy.member.client.send('POST', `/plugin-actions/${stage.sync}/${path}`, { selector });
    for (const path of ['check', 'grant-review']) {
      const many = Promise.all(Array.from({ length: 100 }, () => ask(path)));
      expect(await within(1_500, quiet.ask), path).toMatchObject({ allowed: true });
      const answers = await many;
      expect(new Set(answers.map(({ status }) => status)), path).toEqual(new Set([200, 429]));
      for (const { status, headers } of answers)
        if (status === 429) expect(headers, path).toMatchObject({ 'retry-after': '2' });
      expect((await ask(path)).status).toBe(200);
    }
  });
});
