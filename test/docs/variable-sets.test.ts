import { afterAll, beforeAll, expect, it } from 'vitest';
import { addEnvironment, addPerson, addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { blocksOf, runBlocks } from './examples.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('the example of the page about variable sets attaches a set to an environment', async () => {
  const password = 'correct horse battery';
  const { email, caller } = await addPerson(api, 'admin', {}, password);
  const { teamId: TEAM } = await addTeam(api.orm);
  const { environmentId: ENVIRONMENT } = await addEnvironment(api.orm, TEAM);
  const TOKEN = (await caller.post('/auth/sessions', { email, password })).body.token;
  const blocks = blocksOf(api, 'docs/variable-sets.md', 'variables');
  const [made = '', listed = ''] = await runBlocks(blocks, { TOKEN, TEAM, ENVIRONMENT }, 60_000);
  expect(made).not.toContain('"error":');
  expect(made).not.toContain('kept sealed');
  expect(JSON.parse(listed).variable_sets).toMatchObject([{ name: 'aws-common', variables: 2, attachments: 1 }]);
});
