import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { registerWorker } from '#domain/workers/store.ts';
import { openEngine } from '#engine/connection.ts';
import { openDatabase } from '#open-database';
import { type System, startSystem } from '#test/support/system.ts';
import { commands, network, publish, runToEnd } from '#test/support/templates.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem({ WORKER_CONCURRENCY: '2' });
});
afterAll(() => system?.close());

/** The activities that the workflow of a run has scheduled, and whether it was told at its start who may begin the run. */
async function readWorkflow({ idempotency_key: key }: { idempotency_key: string }) {
  const engine = openEngine(system.config.temporal);
  try {
    const handle = engine.client.workflow.getHandle(key);
    const [{ events }, { memo }] = [await handle.fetchHistory(), await handle.describe()];
    const activities = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
    );
    return { activities, length: events?.length ?? 0, begin: memo?.['begin'] };
  } finally {
    await engine.close();
  }
}

/** Registers a worker of which nobody polls the queue. */
async function addDeafWorker(pool: string, beginsRuns: boolean): Promise<string> {
  const orm = openDatabase(system.config);
  const facts = { id: newId(), host: 'nowhere', processId: 1, version: '0', pools: [pool], tools: [], concurrency: 5 };
  const isolation = { isolation: 'sandbox', limits: 'cgroup', isolationReason: null } as const;
  await registerWorker(orm.em.fork(), { ...facts, ...isolation, beginsRuns });
  await orm.close();
  return facts.id;
}

const quick = commands({ work: 'true' });
const admit = async (template_id: string, request: object = {}) =>
  (await system.administrator.post('/runs', { template_id, ...request })).body;

describe('a run whose pool has a free slot', () => {
  it('is begun by a worker, and its workflow executes nothing else', async () => {
    const template_id = await publish(system.administrator, 'network', network);
    const run = await runToEnd(system.administrator, { template_id, variables: { token: 'a value' } });
    const { activities, length, begin } = await readWorkflow(run);
    expect(activities).toEqual(['beginRun']);
    expect(length).toBeLessThanOrEqual(12);
    expect(begin).toEqual({ queue: 'pool.default', timeout_seconds: 7_800, priority: 3 });
  });

  it('asks for its first step after a second if no worker begins it, and then says why it waits', async () => {
    await addDeafWorker('deaf', true);
    const template_id = await publish(system.administrator, 'deaf', { ...quick, pool: 'deaf' });
    const run = await admit(template_id);
    const read = async () => (await system.administrator.get(`/runs/${run.id}`)).body;
    await expect.poll(async () => (await read()).waiting_on?.code).toBe('no_worker');
    const readActivities = async () => (await readWorkflow(run)).activities;
    await expect.poll(readActivities).toEqual(['beginRun', 'executeAttempt']);
    await system.administrator.post(`/runs/${run.id}/cancel`);
    await system.administrator.awaitRun(run.id, ['canceled']);
  });
});

describe('a run is not offered to workers', () => {
  it('while all slots of its pool are taken', async () => {
    const slow = await publish(system.administrator, 'slow', commands({ work: 'sleep 3' }));
    const runs = [];
    for (const instance of ['one', 'two', 'three']) {
      runs.push(await admit(slow, { instance }));
      await sleep(300);
    }
    const begins = await Promise.all(runs.map(async (run) => (await readWorkflow(run)).begin !== undefined));
    expect(begins).toEqual([true, true, false]);
    for (const { id } of runs) await system.administrator.awaitRun(id, ['succeeded']);
  });

  it('while a worker of an earlier release lives, whose workflows do not know of it, even if it drains', async () => {
    const earlier = await addDeafWorker('elsewhere', false);
    const template_id = await publish(system.administrator, 'quick', quick);
    const run = await runToEnd(system.administrator, { template_id });
    expect(await readWorkflow(run)).toMatchObject({ activities: ['executeAttempt'], begin: undefined });
    await system.administrator.post(`/workers/${earlier}/drain`);
    const other = await runToEnd(system.administrator, { template_id });
    expect(await readWorkflow(other)).toMatchObject({ activities: ['executeAttempt'], begin: undefined });
  });
});
