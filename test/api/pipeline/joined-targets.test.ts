import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BindingConnection } from '#database/connection.ts';
import { newId } from '#domain/shared/ids.ts';
import { addPerson, addTeam, type Person, publish, sayHello } from '#test/support/access/people.ts';
import { canI, codeOf, reviewOf } from '#test/support/access/reviews.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';

let api: TestApi;
let owner: Person;
let stranger: Person;
let teamId: string;
let templateId: string;
let runId: string;
let reader: Person;

beforeAll(async () => {
  api = await startApi();
  ({ teamId } = await addTeam(api.orm));
  const other = await addTeam(api.orm);
  owner = await addPerson(api, 'operator', { teams: { [teamId]: 'owner' } });
  stranger = await addPerson(api, 'operator', { teams: { [other.teamId]: 'owner' } });
  templateId = await publish(owner.caller, sayHello, teamId);
  const admitted = await owner.caller.post('/runs', { template_id: templateId, instance: `i-${randomUUID()}` });
  runId = admitted.body.id;
});
afterAll(() => api?.close());
beforeEach(async () => {
  reader = await addPerson(api, 'requester', { teams: { [teamId]: 'viewer' } });
});

const execute = (sql: string, ...params: unknown[]) => api.orm.em.fork().execute<object[]>(sql, params);
const about = () => ({ name: runId, team_id: teamId });
const asks = (caller: Caller) => codeOf(caller, 'get', 'runs', about());
const reads = async (caller: Caller) => (await caller.get(`/runs/${runId}`)).status;

/** The texts of the statements that a request sends about callers, runs and teams. */
async function statementsOf(request: () => Promise<unknown>): Promise<string[]> {
  await request(); // The first use of a key is recorded by a statement of its own.
  const run = vi.spyOn(BindingConnection.prototype, 'run');
  try {
    await request();
    const texts = run.mock.calls.map(([text]) => text);
    return texts.filter((text) => /from "(?:principals|api_keys|runs|teams)"/.test(text));
  } finally {
    run.mockRestore();
  }
}

describe('a read whose target is found together with its caller', () => {
  it('takes one statement', async () => {
    for (const request of [
      () => reader.caller.get(`/runs/${runId}`),
      () => canI(reader.caller, 'get', 'runs', about()),
      () => canI(reader.caller, 'list', 'runs', { team_id: teamId }),
      () => canI(reader.caller, 'get', 'runs', { ...about(), name: newId() }),
    ])
      expect(await statementsOf(request)).toHaveLength(1);
  });

  it('refuses a revoked key at the next request', async () => {
    expect([await asks(reader.caller), await reads(reader.caller)]).toEqual(['allowed', 200]);
    await execute('update api_keys set revoked_at = now() where principal_id = ?', reader.id);
    const asked = await reader.caller.post('/auth/can-i', reviewOf({ resource: 'runs', verb: 'get', ...about() }));
    expect([asked.status, await reads(reader.caller)]).toEqual([401, 401]);
  });

  it('refuses an expired session, a disabled user and a deleted user at the next request', async () => {
    for (const end of [
      'update principals set enabled = false where id = ?',
      'update principals set deleted_at = now() where id = ?',
      `update api_keys set expires_at = now() - interval '1 second' where principal_id = ?`,
    ]) {
      const person = await addPerson(api, 'requester', { teams: { [teamId]: 'viewer' } });
      expect(await reads(person.caller)).toBe(200);
      await execute(end, person.id);
      expect(await reads(person.caller), end).toBe(401);
    }
  });

  it('hides the target once the membership or the role of the caller is gone', async () => {
    await execute('delete from team_members where principal_id = ?', reader.id);
    expect([await asks(reader.caller), await reads(reader.caller)]).toEqual(['resource_not_found_or_denied', 404]);
    await execute(`update principals set role = null where id = ?`, owner.id);
    expect(await reads(owner.caller)).toBe(403);
    await execute(`update principals set role = 'operator' where id = ?`, owner.id);
    expect(await reads(owner.caller)).toBe(200);
  });

  it("answers the same for another tenant's target and for a missing one", async () => {
    const [hidden, missing] = await Promise.all([
      stranger.caller.get(`/runs/${runId}`),
      stranger.caller.get(`/runs/${newId()}`),
    ]);
    expect([hidden.status, hidden.text]).toEqual([404, missing.text]);
    expect(await asks(stranger.caller)).toBe('resource_not_found_or_denied');
  });

  it('records the refusal of a hidden target with its owner', async () => {
    await stranger.caller.get(`/runs/${runId}`);
    const recorded = await execute(
      `select team_id from audit_records where actor_id = ? and action = 'runs.get' and resource_id = ?`,
      stranger.id,
      runId,
    );
    expect(recorded).toContainEqual({ team_id: teamId });
  });
});

describe('a read whose input cannot be parsed before its caller is known', () => {
  const requests = (caller: Caller) => [
    caller.get('/runs/nonsense'),
    caller.get(`/runs/${runId}?unknown=1`),
    caller.post('/auth/can-i', { resource_attributes: 1 }),
    caller.post('/auth/can-i', { a: 'text' }, { 'content-type': 'text/plain' }),
  ];
  const sendBroken = (key: string) =>
    fetch(`${api.url}/api/v1/auth/can-i`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: '{"resource_attributes": ',
    });

  it('answers 401 without a valid credential, whatever the input', async () => {
    for (const caller of [new Caller(api.url, {}), new Caller(api.url, { 'x-api-key': 'dc_wrong' })])
      for (const answer of await Promise.all(requests(caller))) expect(answer.status).toBe(401);
    expect((await sendBroken('dc_wrong')).status).toBe(401);
  });

  it('answers 403 to a caller without the permission, whatever the input', async () => {
    const nobody = await addPerson(api, 'requester');
    await execute('update principals set role = null where id = ?', nobody.id);
    for (const answer of await Promise.all(requests(nobody.caller))) expect(answer.status).toBe(403);
  });

  it('answers what is wrong with the input to everybody else', async () => {
    for (const answer of await Promise.all(requests(reader.caller))) expect(answer.status).toBe(400);
    expect((await sendBroken(reader.key)).status).toBe(400);
  });
});
