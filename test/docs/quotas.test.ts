import { afterAll, beforeAll, expect, it } from 'vitest';
import { addEnvironment, addPerson, addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { blocksOf, runBlocks } from './examples.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('the example of the page about quotas limits a team and the installation, recounts, and removes the quota of the team', async () => {
  const password = 'correct horse battery';
  const { email, caller } = await addPerson(api, 'admin', {}, password);
  const { teamId: TEAM } = await addTeam(api.orm);
  const { environmentId: ENVIRONMENT } = await addEnvironment(api.orm, TEAM);
  const TOKEN = (await caller.post('/auth/sessions', { email, password })).body.token;
  const blocks = blocksOf(api, 'docs/quotas.md', 'quota');
  const [set = '', listed = '', removed = ''] = await runBlocks(blocks, { TOKEN, TEAM, ENVIRONMENT }, 60_000);
  expect(JSON.parse(set)).toMatchObject({ id: TEAM, limits: { concurrent_runs: 2, queued_runs: 1, instances: 20 } });
  const quotas = JSON.parse(listed.trim().split('\n').at(-1) ?? '').quotas;
  expect(quotas.map(({ scope }: { scope: string }) => scope)).toEqual(['installation', 'team']);
  expect(removed).not.toContain('"error":');
  expect((await caller.get('/admin/quotas')).body.quotas).toHaveLength(1);
});
