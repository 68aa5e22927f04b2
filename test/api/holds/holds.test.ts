import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { wakeHeldRuns } from '#domain/holds/waking.ts';
import { ApplyObstructed } from '#domain/runs/errors.ts';
import { readEvent } from '#domain/shared/events/event-store.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

/** Locks, freeze windows and the pause of all applies, and the runs that wait because of them. */
let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
let tenant: Tenant;
let path: string;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
});
afterAll(() => api?.close());
beforeEach(async () => {
  worker = await steps.worker('none'); // On a busy machine, one worker would count as lost before the last test.
  tenant = await makeTenant(api);
  path = `/environments/${tenant.environment}`;
});

/** A run whose plan is ready. */
async function planned(spec: object = {}) {
  const { runId, attemptId } = await steps.planning(worker, 'none', { environment_id: tenant.environment }, spec);
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  return { runId, executed: attemptId };
}
const read = async (runId: string) => (await tenant.owner.get(`/runs/${runId}`)).body;
const eventsOf = async (runId: string, type: string) =>
  (await tenant.owner.get(`/runs/${runId}/events`)).body.events.filter(
    (event: { type: string }) => event.type === type,
  );
const always = [
  { name: 'Long ago', starts_at: '2020-01-01T00:00:00Z', ends_at: '2020-01-02T00:00:00Z' },
  { name: 'For years', reason: 'migration', starts_at: '2020-01-01T00:00:00Z', ends_at: '2099-01-01T00:00:00Z' },
];

type Case = [code: string, begin: () => Promise<unknown>, end: () => Promise<unknown>, blocker: () => object];
const cases: Case[] = [
  [
    'locked',
    () => tenant.owner.put(`${path}/lock`, { reason: 'incident' }),
    () => tenant.owner.delete(`${path}/lock`),
    () => ({ by: { type: 'user', id: tenant.owner.id }, name: null, reason: 'incident', until: null }),
  ],
  [
    'frozen',
    () => tenant.owner.put(`${path}/freeze-windows`, { freeze_windows: always }),
    () => tenant.owner.put(`${path}/freeze-windows`, { freeze_windows: [] }),
    () => ({ by: null, name: 'For years', reason: 'migration', until: '2099-01-01T00:00:00.000Z' }),
  ],
  [
    'paused',
    () => admin.put('/admin/apply-pause', { reason: 'incident' }),
    () => admin.delete('/admin/apply-pause'),
    () => ({ by: { type: 'user', id: admin.id }, name: null, reason: 'incident', until: null }),
  ],
];

describe.each(cases)('while it is %s, a run', (code, begin, end, blocker) => {
  it('is admitted and planned, waits with the blocker and its reason, and applies afterwards', async () => {
    await begin();
    const run = await planned();
    for (let repeat = 0; repeat < 2; repeat += 1)
      expect(await steps.next(run)).toMatchObject({ kind: 'wait', seconds: 300 });
    expect(await read(run.runId)).toMatchObject({
      status: 'running',
      waiting_on: { code, since: expect.any(String), position: null, blocker: blocker() },
    });
    expect(await eventsOf(run.runId, 'run.held')).toHaveLength(1);
    await end();
    expect(await steps.next(run)).toMatchObject({ kind: 'execute' });
    expect(await read(run.runId)).toMatchObject({ phase: 'applying', waiting_on: { code: 'no_worker' } });
  });

  it('whose apply waits for a worker is not assigned to one', async () => {
    const run = await planned();
    const attemptId = executing(await steps.next(run));
    await begin();
    await expect(steps.claim(attemptId, worker, 'none')).rejects.toThrow(ApplyObstructed);
    await steps.abandon(attemptId, worker, 'handed_back');
    expect(await steps.next({ ...run, executed: attemptId })).toMatchObject({ kind: 'wait' });
    expect((await read(run.runId)).waiting_on).toMatchObject({ code });
    await end();
    const again = executing(await steps.next({ ...run, executed: attemptId }));
    expect(await steps.claim(again, worker, 'none')).not.toBeNull();
  });

  it('that applies already continues', async () => {
    const run = await planned();
    const attemptId = executing(await steps.next(run));
    expect(await steps.claim(attemptId, worker, 'none')).not.toBeNull();
    await begin();
    await steps.complete(attemptId, { outcome: 'applied' });
    expect(await steps.next({ ...run, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await read(run.runId)).toMatchObject({ status: 'succeeded' });
    await end();
  });

  it('is woken when the blocker ends', async () => {
    await begin();
    const run = await planned();
    await steps.next(run);
    await end();
    const [event] = await api.rows<{ id: string }>(
      'select id from domain_events order by created_at desc, id desc limit 1',
    );
    const ended = await readEvent(api.services.orm.em.fork(), event?.id ?? '');
    const { idempotency_key: workflow } = await read(run.runId);
    await wakeHeldRuns(api.services.transactions, ended!);
    const messages = await api.rows('select payload from outbox where target = ? order by id desc limit 1', [workflow]);
    expect(messages).toEqual([{ payload: { kind: 'signal', signal: 'wake' } }]);
  });
});

describe('an approved run that is blocked', () => {
  const strict = { approval: { required: 1, when: 'always' } };

  async function approvedAndHeld() {
    const reviewer = await api.addUser('maintainer');
    await join(tenant, reviewer, 'member', 'admin');
    const run = await planned(strict);
    await steps.next(run);
    await tenant.owner.put(`${path}/lock`, { reason: 'incident' });
    const { plan } = await read(run.runId);
    const review = { decision: 'approve', plan_digest: plan.digest };
    expect(await reviewer.post(`/runs/${run.runId}/approval/review`, review)).toMatchObject({ status: 200 });
    expect(await steps.next(run)).toMatchObject({ kind: 'wait' });
    expect(await read(run.runId)).toMatchObject({ status: 'pending_approval', waiting_on: { code: 'locked' } });
    return { run, reviewer };
  }

  it('applies when the lock ends, even after the time limit of the approval', async () => {
    const { run } = await approvedAndHeld();
    await api.rows(`update runs set approval_expires_at = now() - interval '1 hour' where id = ?`, [run.runId]);
    expect(await steps.next(run)).toMatchObject({ kind: 'wait' });
    await tenant.owner.delete(`${path}/lock`);
    expect(await steps.next(run)).toMatchObject({ kind: 'execute' });
  });

  it('waits for approval again, with the full time limit, if its reviewer is disabled meanwhile', async () => {
    const { run, reviewer } = await approvedAndHeld();
    await api.rows(`update runs set approval_expires_at = now() - interval '1 hour' where id = ?`, [run.runId]);
    await admin.put(`/users/${reviewer.id}`, { enabled: false });
    const asked = Date.now();
    expect(await steps.next(run)).toMatchObject({ kind: 'wait', seconds: 300 });
    const again = await read(run.runId);
    expect(again).toMatchObject({ status: 'pending_approval', waiting_on: { code: 'approval' } });
    expect(Date.parse(again.approval.expires_at)).toBeGreaterThanOrEqual(asked + 7 * 24 * 3_600_000);
    expect(await eventsOf(run.runId, 'run.approval_lapsed')).toMatchObject([{ data: { reason: 'disabled' } }]);
    expect(await eventsOf(run.runId, 'run.approval_required')).toHaveLength(2);
    await admin.put(`/users/${reviewer.id}`, { enabled: true });
    await tenant.owner.delete(`${path}/lock`);
    expect(await steps.next(run), 'the approval counts again').toMatchObject({ kind: 'execute' });
  });

  it('waits for approval again if its reviewer is disabled while its apply waits for a worker', async () => {
    const { run, reviewer } = await approvedAndHeld();
    await tenant.owner.delete(`${path}/lock`);
    const attemptId = executing(await steps.next(run));
    await admin.put(`/users/${reviewer.id}`, { enabled: false });
    await expect(steps.claim(attemptId, worker, 'none')).rejects.toThrow(ApplyObstructed);
    await steps.abandon(attemptId, worker, 'handed_back');
    expect(await steps.next({ ...run, executed: attemptId })).toMatchObject({ kind: 'wait' });
    expect(await read(run.runId)).toMatchObject({ status: 'pending_approval', waiting_on: { code: 'approval' } });
  });
});

describe('the lock of an environment', () => {
  const lock = (user: ApiUser, body: object) => user.put(`${path}/lock`, body);

  it('is shown by the environment until it is unlocked, and each change leaves an event and an audit record', async () => {
    const until = '2099-01-01T00:00:00.000Z';
    const shown = { reason: 'incident', until, by: { id: tenant.owner.id }, since: expect.any(String) };
    expect(await lock(tenant.owner, { reason: ' incident ', until })).toMatchObject({
      status: 200,
      body: { lock: shown },
    });
    expect((await tenant.owner.get(path)).body).toMatchObject({ lock: shown, revision: 2 });
    expect(await tenant.owner.delete(`${path}/lock`)).toMatchObject({ status: 204 });
    expect((await tenant.owner.get(path)).body).toMatchObject({ lock: null, revision: 3 });
    expect(await tenant.owner.delete(`${path}/lock`)).toMatchObject({ status: 404 });
    const of = [tenant.environment];
    const events = await api.rows(
      `select type from domain_events where subject_id = ? and type like 'environment.%locked' order by sequence`,
      of,
    );
    expect(events).toEqual([{ type: 'environment.locked' }, { type: 'environment.unlocked' }]);
    const records = await api.rows(
      `select action from audit_records where resource_id = ? and action like 'environment.%locked' order by id`,
      of,
    );
    expect(records).toEqual([{ action: 'environment.locked' }, { action: 'environment.unlocked' }]);
  });

  it('expires at its end', async () => {
    await lock(tenant.owner, { reason: 'incident', until: new Date(Date.now() + 1500).toISOString() });
    const run = await planned();
    const step = await steps.next(run);
    expect(step).toMatchObject({ kind: 'wait' });
    expect(step.kind === 'wait' && step.seconds).toBeLessThanOrEqual(2);
    await expect.poll(() => steps.next(run)).toMatchObject({ kind: 'execute' });
    expect((await tenant.owner.get(path)).body.lock).toBeNull();
  });

  it.each([
    ['no reason', {}],
    ['an empty reason', { reason: ' ' }],
    ['a time that is over', { reason: 'a', until: '2020-01-01T00:00:00Z' }],
    ['a time without a zone', { reason: 'a', until: '2099-01-01T00:00:00' }],
    ['a time whose offset moves it into the year 10000', { reason: 'a', until: '9999-12-31T23:59:59-00:01' }],
  ])('answers 400 for %s', async (_, body) => {
    expect(await lock(tenant.owner, body)).toMatchObject({ status: 400 });
  });

  it('answers 409 for a stale revision and an archived environment, and 403 and 404 to others', async () => {
    expect(await lock(tenant.owner, { reason: 'a', expected_revision: 7 })).toMatchObject({ status: 409 });
    const member = await api.addUser('maintainer');
    await join(tenant, member, 'member', 'member');
    expect(await lock(member, { reason: 'a' })).toMatchObject({ status: 403 });
    expect(await lock(await api.addUser('maintainer'), { reason: 'a' })).toMatchObject({ status: 404 });
    await tenant.owner.post(`${path}/archive`);
    expect(await lock(tenant.owner, { reason: 'a' })).toMatchObject({ status: 409 });
  });
});

describe('the freeze windows of an environment', () => {
  it('are replaced as a whole and read back as they were set', async () => {
    const weekly = { starts: { day: 'friday', time: '16:00' }, ends: { day: 'monday', time: '08:00' } };
    const windows = [always[1], { name: 'Weekend', reason: '', weekly, time_zone: 'Europe/Berlin' }];
    const body = { freeze_windows: windows };
    expect(await tenant.owner.put(`${path}/freeze-windows`, body)).toMatchObject({ status: 200, body });
    expect((await tenant.owner.get(`${path}/freeze-windows`)).body).toMatchObject({ ...body, revision: 2 });
    await tenant.owner.put(`${path}/freeze-windows`, { freeze_windows: [] });
    expect((await tenant.owner.get(`${path}/freeze-windows`)).body).toMatchObject({ freeze_windows: [], revision: 3 });
  });

  it('answers 400 naming the field for a window that could never be open', async () => {
    const wrong = { name: 'a', starts_at: '2027-01-01T00:00:00Z', ends_at: '2026-01-01T00:00:00Z' };
    const answer = await tenant.owner.put(`${path}/freeze-windows`, { freeze_windows: [wrong] });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('ends_at') } });
  });
});

describe('the pause of all applies', () => {
  it('can be read, replaced and ended only by administrators', async () => {
    expect((await admin.get('/admin/apply-pause')).body).toMatchObject({ pause: null, revision: expect.any(Number) });
    await admin.put('/admin/apply-pause', { reason: 'one' });
    const answer = await admin.put('/admin/apply-pause', { reason: 'two', until: '2099-01-01T00:00:00Z' });
    expect(answer).toMatchObject({ status: 200, body: { pause: { reason: 'two', by: { id: admin.id } } } });
    for (const role of ['operator', 'maintainer'] as const) {
      const user = await api.addUser(role);
      expect(await user.get('/admin/apply-pause')).toMatchObject({ status: 403 });
      expect(await user.put('/admin/apply-pause', { reason: 'x' })).toMatchObject({ status: 403 });
      expect(await user.delete('/admin/apply-pause')).toMatchObject({ status: 403 });
    }
    const far = { reason: 'far', until: '9999-12-31T23:59:59-23:59' };
    expect(await admin.put('/admin/apply-pause', far)).toMatchObject({ status: 400 });
    expect(await admin.delete('/admin/apply-pause')).toMatchObject({ status: 204 });
    expect(await admin.delete('/admin/apply-pause')).toMatchObject({ status: 404 });
  });

  it('cannot be replaced or ended with the revision of an older pause', async () => {
    const second = await api.addUser('admin');
    const { revision } = (await second.get('/admin/apply-pause')).body;
    const first = await admin.put('/admin/apply-pause', { reason: 'first', expected_revision: revision });
    expect([first.status, first.headers['etag']]).toEqual([200, `"${revision + 1}"`]);
    const seen = { 'if-match': `"${revision}"` };
    for (const [method, body] of [['PUT', { reason: 'second' }], ['DELETE']] as const) {
      const stale = await second.send(method, '/admin/apply-pause', body, seen);
      expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    }
    expect((await second.get('/admin/apply-pause')).body).toMatchObject({ pause: { reason: 'first' } });
    expect((await second.put('/admin/apply-pause', { reason: 'second' })).status).toBe(200);
    const last = { 'if-match': `"${revision + 2}"` };
    expect((await second.delete('/admin/apply-pause', last)).status).toBe(204);
    const again = await admin.put('/admin/apply-pause', { reason: 'x', expected_revision: revision + 2 });
    expect(again.status).toBe(409);
  });

  it('is replaced with a record of the pause that it replaces', async () => {
    await admin.put('/admin/apply-pause', { reason: 'replaced' });
    await admin.put('/admin/apply-pause', { reason: 'replacing' });
    const [record] = await api.rows(
      `select before -> 'pause' ->> 'reason' as before, after -> 'pause' ->> 'reason' as after
         from audit_records where action = 'applies.paused' order by id desc limit 1`,
    );
    expect(record).toEqual({ before: 'replaced', after: 'replacing' });
    await admin.delete('/admin/apply-pause');
  });
});
