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

/** Deletes a new project, and returns how its deletion is sent again under the same key. */
async function deletedProject(tag: string | undefined) {
  const { body } = await tenant.owner.post('/projects', { team_id: tenant.team, name: crypto.randomUUID() });
  const key = crypto.randomUUID();
  const send = async (ifMatch: string | undefined) => {
    const headers = { 'idempotency-key': key, ...(ifMatch !== undefined && { 'if-match': ifMatch }) };
    const { status, headers: answered } = await tenant.owner.send('DELETE', `/projects/${body.id}`, undefined, headers);
    return status === 409 ? String(answered['x-error-code']) : status;
  };
  expect(await send(tag)).toBe(204);
  return { key, send };
}

it.each([
  ['"1"', '"2"'],
  ['"1"', '*'],
  ['"1"', undefined],
  [undefined, '"1"'],
])('an idempotency key that was used with the If-Match %s is refused with %s', async (first, other) => {
  const { send } = await deletedProject(first);
  expect(await send(first)).toBe(204);
  expect(await send(other)).toBe('idempotency_key_reused');
});

it('an idempotency key that was used without If-Match is accepted with If-Match *', async () => {
  const { send } = await deletedProject(undefined);
  expect(await send('*')).toBe(204);
});

it('a receipt of an earlier release is compared without If-Match', async () => {
  const { key, send } = await deletedProject(undefined);
  await api.rows('update command_receipts set binding_version = 1 where key = ?', [key]);
  expect([await send('"1"'), await send('"2"'), await send(undefined)]).toEqual([204, 204, 204]);
});

it.each([
  [2, 'idempotency_key_reused'],
  [1, 404],
])('a key that was reserved with binding version %i is compared by that version', async (version, answered) => {
  const { key, send } = await deletedProject(undefined);
  await api.rows('update command_receipts set is_reserved = true, binding_version = ? where key = ?', [version, key]);
  expect(await send('"1"')).toBe(answered);
});
