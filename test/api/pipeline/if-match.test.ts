import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import { honoursIfMatch } from '#api/pipeline/headers/if-match.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Awaited<ReturnType<typeof makeTenant>>;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api.close());

const change = (tag: string, body: object) =>
  tenant.owner.send('PATCH', `/projects/${tenant.project}`, body, { 'if-match': tag });

it('a resource is read with its revision as entity tag, and changed only if that is still its revision', async () => {
  const read = await tenant.owner.get(`/projects/${tenant.project}`);
  expect(read.headers['etag']).toBe(`"${read.body.revision}"`);
  const first = await change(`"${read.body.revision}"`, { name: 'Renamed' });
  expect([first.status, first.headers['etag']]).toEqual([200, `"${read.body.revision + 1}"`]);
  const stale = await change(`"${read.body.revision}"`, { name: 'Renamed again' });
  expect([stale.status, stale.body.error]).toEqual([409, expect.stringContaining('is stale')]);
  expect((await tenant.owner.get(`/projects/${tenant.project}`)).body.name).toBe('Renamed');
});

it('a resource that was changed meanwhile is neither archived nor deleted', async () => {
  const headers = { 'if-match': '"99"', 'idempotency-key': crypto.randomUUID() };
  for (const [method, path] of [
    ['POST', '/archive'],
    ['POST', '/unarchive'],
    ['DELETE', ''],
  ] as const) {
    const answer = await tenant.owner.send(method, `/environments/${tenant.environment}${path}`, undefined, headers);
    expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('99 is stale')]);
  }
});

it('If-Match is refused by a command that compares no revision, rather than ignored', async () => {
  const answer = await tenant.owner.send(
    'POST',
    '/projects',
    { team_id: tenant.team, name: 'New' },
    { 'if-match': '"1"' },
  );
  expect([answer.status, answer.body.error]).toEqual([
    400,
    'If-Match: this operation does not compare a revision: send none',
  ]);
});

it('every deletion honours If-Match, except of credentials, which have no revision', () => {
  const deletions = operations.filter(({ route }) => route.startsWith('DELETE'));
  const ignoring = deletions.filter((operation) => !honoursIfMatch(operation)).map(({ id }) => id);
  expect(ignoring.sort()).toEqual(['auth.sign_out', 'profile.revoke_api_key', 'service_account_keys.revoke']);
});

it('every change of a resource that has a revision honours If-Match', () => {
  const changes = operations.filter(({ id }) => /\.(update|archive|unarchive)$/.test(id));
  expect(changes.length).toBeGreaterThan(12);
  expect(changes.filter((operation) => !honoursIfMatch(operation)).map(({ id }) => id)).toEqual([]);
});
