import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, RunSteps } from '#test/support/runs/run-steps.ts';

/** Two people lock one environment. */
let api: TestApi;
let steps: RunSteps;
let worker: string;
let tenant: Tenant;
let second: ApiUser;
let path: string;
beforeAll(async () => {
  api = await startApi();
  steps = new RunSteps(api, await api.addUser('admin'));
  worker = await steps.worker('none');
});
afterAll(() => api?.close());
beforeEach(async () => {
  tenant = await makeTenant(api);
  second = await api.addUser('maintainer');
  await join(tenant, second, 'member', 'admin');
  path = `/environments/${tenant.environment}`;
});

const lock = (user: ApiUser, body: object, headers = {}) => user.send('PUT', `${path}/lock`, body, headers);
const readLock = async () => (await tenant.owner.get(path)).body.lock;

describe('a second lock of an environment', () => {
  it('is refused with who locked it, why and until when, and the first lock is kept', async () => {
    await lock(tenant.owner, { reason: 'incident 4711', until: '2099-01-01T00:00:00Z' });
    const held = await readLock();
    const answer = await lock(second, { reason: 'test' });
    expect([answer.status, answer.headers['x-error-code']]).toEqual([409, 'environment_locked']);
    for (const part of [held.by.name, 'incident 4711', '2099-01-01', 'expected_revision'])
      expect(answer.body.error).toContain(part);
    expect((await lock(second, { reason: 'test' }, { 'if-match': '*' })).status).toBe(409);
    expect(await readLock()).toEqual(held);
  });

  it('is refused with a message of one readable line, whatever the reason of the first lock contains', async () => {
    await lock(tenant.owner, { reason: 'a\u2069\u202eb\nc' });
    const { error } = (await lock(second, { reason: 'test' })).body;
    expect(error).toContain('("a b c"): to replace that lock');
    expect((await readLock()).reason).toBe('a\u2069\u202eb\nc');
  });

  it('replaces the first lock if it has the present revision, in the body or in If-Match', async () => {
    await lock(tenant.owner, { reason: 'incident' });
    const { revision } = (await second.get(path)).body;
    expect((await lock(second, { reason: 'old', expected_revision: revision - 1 })).status).toBe(409);
    expect((await lock(second, { reason: 'takeover', expected_revision: revision })).status).toBe(200);
    expect(await readLock()).toMatchObject({ reason: 'takeover', by: { id: second.id } });
    const back = await lock(tenant.owner, { reason: 'back' }, { 'if-match': `"${revision + 1}"` });
    expect(back.status, back.text).toBe(200);
    expect(await readLock()).toMatchObject({ reason: 'back', by: { id: tenant.owner.id } });
  });

  it('replaces the first lock if the same person set it', async () => {
    await lock(tenant.owner, { reason: 'incident' });
    expect((await lock(tenant.owner, { reason: 'longer', until: '2099-01-01T00:00:00Z' })).status).toBe(200);
    expect(await readLock()).toMatchObject({ reason: 'longer' });
  });

  it('is set by another person once the first lock has expired', async () => {
    await lock(tenant.owner, { reason: 'incident', until: new Date(Date.now() + 1000).toISOString() });
    await expect.poll(readLock).toBeNull();
    expect((await lock(second, { reason: 'test' })).status).toBe(200);
  });
});

it('a waiting run publishes a new blocker if its lock changes, and nothing if the lock is unchanged', async () => {
  const { runId, attemptId } = await steps.planning(worker, 'none', { environment_id: tenant.environment }, {});
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  const run = { runId, executed: attemptId };
  const holds = async () =>
    (await tenant.owner.get(`/runs/${runId}/events`)).body.events
      .filter((event: { type: string }) => event.type === 'run.held')
      .map((event: { data: { reason: string } }) => event.data.reason);
  await lock(tenant.owner, { reason: 'incident' });
  for (let repeat = 0; repeat < 2; repeat += 1) expect(await steps.next(run)).toMatchObject({ kind: 'wait' });
  expect(await holds()).toEqual(['incident']);
  await lock(tenant.owner, { reason: 'still the incident' });
  for (let repeat = 0; repeat < 2; repeat += 1) expect(await steps.next(run)).toMatchObject({ kind: 'wait' });
  expect(await holds()).toHaveLength(2);
  expect(await holds()).toContain('still the incident');
});
