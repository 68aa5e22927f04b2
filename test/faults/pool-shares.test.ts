import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import type { ApiUser } from '#test/support/api/in-process-api.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';
import { WorkerRegistration } from '#worker/registration.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

const { api, admin, steps, readRun } = await openRunStepsApi();
let pools = 0;
/** Each test has its own pool, with four slots, which both tenants may use. */
let pool: string;
let worker: string;
let one: Tenant;
let other: Tenant;
let templateId: string;
beforeEach(async () => {
  pool = `pool-${++pools}`;
  [one, other] = [await makeTenant(api), await makeTenant(api)];
  await admin.make('/worker-pools', { name: pool, team_ids: [one.team, other.team] });
  worker = await steps.worker('sandbox', pool);
  await api.rows('update workers set concurrency = 4 where id = ?', [worker]);
  templateId = await steps.publish({ pool });
});

async function admit({ environment, owner }: Tenant, as: ApiUser = owner): Promise<string> {
  const { status, body, text } = await as.post('/runs', {
    template_id: templateId,
    environment_id: environment,
    instance: `i-${randomUUID()}`,
  });
  expect(status, text).toBe(202);
  return body.id;
}
async function admitMany(count: number, tenant: Tenant, as?: ApiUser): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await admit(tenant, as));
  return ids;
}
const lacks = (share: 'team' | 'person') => ({ code: 'pool_share', share });
const begin = (runId: string) => steps.next({ runId });
const beginAll = (runIds: readonly string[]) => Promise.all(runIds.map(begin));
const countBegun = (all: readonly { kind: string }[]) => all.filter(({ kind }) => kind === 'execute').length;

/** Begins runs one after the other; returns those that have a slot, with their attempts. */
async function beginInOrder(runIds: readonly string[]): Promise<{ runId: string; attemptId: string }[]> {
  const begun = [];
  for (const runId of runIds) {
    const step = await begin(runId);
    if (step.kind === 'execute') begun.push({ runId, attemptId: step.attemptId });
  }
  return begun;
}

/** A worker process that serves the pool as well. */
function registerAnother(concurrency: number): WorkerRegistration {
  const { orm, log, transactions, installation } = api.services;
  const identity = { id: randomUUID(), host: 'another', processId: process.pid, version: '0' };
  const containment = { isolation: 'sandbox', isolationReason: null, limits: 'cgroup' } as const;
  return new WorkerRegistration({
    ...{ orm, log, transactions, bindingKey: installation.bindingKey },
    facts: { ...identity, ...containment, pools: [pool], concurrency },
    findTools: async () => [],
    onDrain: () => undefined,
  });
}

/** The runs that were signaled, once for each signal. The engine gets none here, because no workflow was started. */
async function readSignaled(): Promise<string[]> {
  const rows = await api.rows<{ id: string }>(
    `select r.id from outbox o join runs r on r.idempotency_key::text = o.target::text
     where r.pool = ? and o.payload::jsonb ->> 'kind' = 'signal' order by o.id`,
    [pool],
  );
  return rows.map(({ id }) => id);
}

async function plan({ attemptId }: { attemptId: string }): Promise<void> {
  await steps.claim(attemptId, worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
}

/** Ends a run of which an attempt is executed; returns those that it woke. */
async function end({ runId, attemptId }: { runId: string; attemptId: string }): Promise<string[]> {
  await steps.claim(attemptId, worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'failed', reason: 'executor_failed' });
  const before = await readSignaled();
  await steps.next({ runId, executed: attemptId });
  return (await readSignaled()).slice(before.length);
}

describe('in a pool that two teams may use', () => {
  it('one team gets at most three quarters of the slots, and its other runs wait with the reason pool_share', async () => {
    const runs = await admitMany(8, one);
    const first = await beginAll(runs);
    expect(countBegun(first)).toBe(3);
    const waiting = runs.filter((_, index) => first[index]?.kind === 'wait');
    expect(first.filter(({ kind }) => kind === 'wait')).toEqual(waiting.map(() => ({ kind: 'wait', seconds: 5 })));
    expect(await readRun(waiting[0] ?? '')).toMatchObject({ status: 'queued', waiting_on: lacks('team') });
    expect(await begin(waiting[0] ?? '')).toEqual({ kind: 'wait', seconds: 300 });
    expect(countBegun(await beginAll(waiting))).toBe(0);
    expect(await begin(await admit(other))).toMatchObject({ kind: 'execute' });
  });

  it('one person gets at most half of the slots while another one waits, even through service accounts', async () => {
    await admin.patch(`/worker-pools/${pool}`, { max_team_percent: 100 });
    expect(countBegun(await beginAll(await admitMany(1, other)))).toBe(1);
    const runs = await admitMany(4, one);
    await api.rows('update runs set requested_by_id = gen_random_uuid(), responsible_user_id = ? where id = any(?)', [
      one.owner.id,
      `{${runs.join()}}`,
    ]);
    const begun = await beginAll(runs);
    expect(countBegun(begun)).toBe(2);
    const waiting = runs.find((_, index) => begun[index]?.kind === 'wait');
    expect(await readRun(waiting ?? '')).toMatchObject({ waiting_on: lacks('person') });
  });

  it('a run shows whose share is exhausted if the free slots are for runs that wait before it', async () => {
    const colleague = await api.addUser('maintainer');
    await join(one, colleague, 'member', 'member');
    await beginInOrder(await admitMany(2, one, colleague));
    const [first, second, third] = await admitMany(3, one);
    const waits = { code: 'pool_share', since: new Date(), position: null, blocker: null };
    await api.rows('update runs set waiting_on = ? where id in (?, ?)', [JSON.stringify(waits), first, second]);
    expect(await begin(third ?? '')).toMatchObject({ kind: 'wait' });
    expect(await readRun(third ?? '')).toMatchObject({ waiting_on: lacks('person') });
    expect(await begin(second ?? '')).toMatchObject({ kind: 'wait' });
    expect(await readRun(second ?? '')).toMatchObject({ waiting_on: lacks('team') });
  });

  it('one person alone may use the whole share of the team, and a freed slot goes to another one who waits', async () => {
    const colleague = await api.addUser('maintainer');
    await join(one, colleague, 'member', 'member');
    const runs = await admitMany(5, one);
    const held = await beginInOrder(runs);
    expect(held).toHaveLength(3);
    const waiting = runs.slice(3);
    const asked = await admit(one, colleague);
    expect(await begin(asked)).toMatchObject({ kind: 'wait' });
    const [first, second] = held;
    if (!first || !second) throw new Error('no run has begun');
    expect(await end(first)).toEqual([asked]);
    expect(countBegun(await beginAll([...waiting, asked]))).toBe(1);
    expect((await readRun(asked)).status).toBe('running');
    expect(await end(second)).toEqual([waiting[0]]);
    expect(await begin(waiting[1] ?? '')).toMatchObject({ kind: 'wait' });
    expect(await begin(waiting[0] ?? '')).toMatchObject({ kind: 'execute' });
  });

  it('a run whose worker returns it continues in the same slot', async () => {
    const [first, ...rest] = await admitMany(4, one);
    const attemptId = executing(await begin(first ?? ''));
    const others = await beginAll(rest);
    expect(countBegun(others)).toBe(2);
    await steps.claim(attemptId, worker, 'sandbox');
    await steps.abandon(attemptId, worker, 'handed_back');
    expect(await steps.next({ runId: first ?? '', executed: attemptId })).toMatchObject({ kind: 'execute' });
  });

  it('a planned run is applied in the same slot, unless its person now uses too many', async () => {
    const colleague = await api.addUser('maintainer');
    await join(one, colleague, 'member', 'member');
    const [first, second] = await beginInOrder(await admitMany(3, one));
    if (!first || !second) throw new Error('no run has begun');
    await plan(first);
    const applied = await steps.next({ runId: first.runId, executed: first.attemptId });
    expect(applied).toMatchObject({ kind: 'execute' });
    const asked = await admit(one, colleague);
    expect(await begin(asked)).toMatchObject({ kind: 'wait' });
    await plan(second);
    const before = await readSignaled();
    expect(await steps.next({ runId: second.runId, executed: second.attemptId })).toMatchObject({ kind: 'wait' });
    expect(await readRun(second.runId)).toMatchObject({ status: 'running', waiting_on: lacks('person') });
    expect((await readSignaled()).slice(before.length)).toEqual([asked]);
    expect(await begin(asked)).toMatchObject({ kind: 'execute' });
    expect(await end({ ...first, attemptId: executing(applied) })).toEqual([second.runId]);
    expect(await steps.next({ runId: second.runId, executed: second.attemptId })).toMatchObject({ kind: 'execute' });
  });

  it('each team may use one slot if there is only one', async () => {
    await api.rows('update workers set concurrency = 1 where id = ?', [worker]);
    expect(countBegun(await beginAll([...(await admitMany(3, one)), ...(await admitMany(3, other))]))).toBe(2);
  });

  it('runs that wait are woken when the shares are changed', async () => {
    const runs = await admitMany(4, one);
    await beginAll(runs);
    const sent = await readSignaled();
    const changed = await admin.patch(`/worker-pools/${pool}`, { max_team_percent: 100, max_person_percent: 80 });
    expect(changed.body).toMatchObject({ max_team_percent: 100, max_person_percent: 80 });
    expect(await readSignaled()).toHaveLength(sent.length + 1);
    expect(countBegun(await beginAll(runs))).toBe(4);
  });

  it('runs that wait are woken when a worker with slots for them registers, unlike others', async () => {
    const runs = await admitMany(8, one);
    const waiting = (await beginAll(runs)).flatMap(({ kind }, index) => (kind === 'wait' ? runs[index] : []));
    const before = await readSignaled();
    const registration = registerAnother(4);
    await registration.start();
    const woken = (await readSignaled()).slice(before.length);
    await registration.stop();
    expect(woken.toSorted()).toEqual(waiting.slice(0, 3).toSorted());
  });

  it('runs that wait are woken when a worker sends heartbeats again after it was silent', async () => {
    const registration = registerAnother(4);
    await registration.start();
    await api.rows(`update workers set heartbeat_at = now() - interval '1 hour' where host = 'another'`, []);
    const runs = await admitMany(4, one);
    const begun = await beginAll(runs);
    const waiting = runs.filter((_, index) => begun[index]?.kind === 'wait');
    expect(waiting).toHaveLength(1);
    const before = await readSignaled();
    await expect.poll(readSignaled, { timeout: 60_000 }).toEqual([...before, ...waiting]);
    await registration.stop();
  });
});

describe('in a pool of one team', () => {
  it('its people may use all slots, as if there were no shares', async () => {
    const colleague = await api.addUser('maintainer');
    await join(one, colleague, 'member', 'member');
    await admin.patch(`/worker-pools/${pool}`, { team_ids: [one.team] });
    const runs = [...(await admitMany(5, one)), await admit(one, colleague)];
    expect(countBegun(await beginAll(runs))).toBe(6);
  });

  it('people of one team may use all slots of a pool that lists only environments of their team', async () => {
    await admin.patch(`/worker-pools/${pool}`, { team_ids: null, environment_ids: [one.environment] });
    expect(countBegun(await beginAll(await admitMany(5, one)))).toBe(5);
  });
});
