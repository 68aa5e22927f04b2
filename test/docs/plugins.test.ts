import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ends } from '#domain/plugins/assignments/basis.ts';
import { checkReasons, obstacles } from '#domain/plugins/assignments/check.ts';
import { addPerson, addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { carryOutWaiting } from '#test/support/plugins/restoring.ts';
import { blocksOf, runBlocks } from './examples.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('the example of the page about plugins has the results that the page shows', async () => {
  const password = 'correct horse battery';
  const { email, caller } = await addPerson(api, 'admin', {}, password);
  const { organizationId: ORGANIZATION, teamId: TEAM } = await addTeam(api.orm);
  const TOKEN = (await caller.post('/auth/sessions', { email, password })).body.token;
  const engine = await carryOutWaiting(api.orm);
  const blocks = blocksOf(api, 'docs/plugins.md', 'plugins');
  const outputs = await runBlocks(blocks, { TOKEN, ORGANIZATION, TEAM }, 60_000);
  await engine.stop();
  expect(outputs.join('')).not.toContain('"error":');
  const [, , staged = '', activated = '', approved = '', asked = '', allowed = '', ...others] = outputs;
  const [assigned = '', restored = '', revoked = '', removed = ''] = others;
  expect(JSON.parse(staged)).toMatchObject({ revision: 1, state: 'staged' });
  expect(JSON.parse(activated)).toMatchObject({ revision: 2 });
  expect(JSON.parse(approved)).toMatchObject({ revision: 1 });
  expect(JSON.parse(asked)).toMatchObject({ allowed: false, reason: { code: 'not_assigned' } });
  expect(allowed).toMatch(/"may_grant":true.*"allowed":true,"reason":\{"code":"assigned"/s);
  expect(assigned).toBe('true\n');
  expect(restored).toMatch(/"state":"deleted".*"revision":3,"eligibility_generation":3/s);
  expect(revoked).toMatch(/"state":"revoked".*the assignment was revoked\n$/s);
  expect(removed).toMatch(/"state":"deleted".*"state":"deleted".*the plugin was removed\n$/s);
});

it('the page about plugins lists every code of a reason, and whether it is an obstacle or an end', () => {
  const text = readFileSync('docs/plugins.md', 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| [^|]+ \| ?([^|]*?) ?\|$/gm)].map(
    ([, code = '', kind = '']) => [code, kind] as const,
  );
  const of = (kind: string) => rows.filter(([, kinds]) => kinds.split(', ').includes(kind)).map(([code]) => code);
  expect(rows.map(([code]) => code).sort()).toEqual(Object.keys(checkReasons).sort());
  expect(of('obstacle').sort()).toEqual(Object.keys(obstacles).sort());
  expect(of('end').sort()).toEqual(Object.keys(ends).sort());
});
