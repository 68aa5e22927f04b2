import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createScheduledWorkActivities } from '#activities/scheduled-work.ts';
import type { Orm } from '#database/database.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { bindEngineNamespace, openInstallation } from '#domain/shared/installation/installation.ts';
import { nextTimes } from '#domain/shared/schedules/next-times.ts';
import {
  defineScheduledWork,
  dropWork,
  type PlannedWork,
  planWork,
  scheduleIdOf,
  toEngineSchedule,
} from '#domain/shared/schedules/scheduled-work.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { type Engine, openEngine } from '#engine/connection.ts';
import { Dispatcher } from '#engine/dispatcher.ts';
import { coordinatorQueue } from '#engine/queues.ts';
import { deleteSchedule, listSchedules, upsertSchedule } from '#engine/schedules.ts';
import { openDatabase } from '#open-database';
import { createTestConfig } from '#test/support/config.ts';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { eagerSignals } from '#test/support/signals.ts';
import { createNamespace } from '#test/support/system.ts';
import { repairSchedules } from '#worker/background/schedule-repair.ts';
import { installEngineRuntime } from '#worker/engine-log.ts';
import { cachedWorkflowBundle } from '#worker/workflow-bundle.ts';

/** The rows of an area, and the rows for which its work was started. */
const rows = new Map<string, PlannedWork>();
const starts: { id: string; at: Date }[] = [];
const kind = 'test_work';
const testWork = defineScheduledWork({
  kind,
  listPlanned: async (_em, { after, limit }) =>
    [...rows.values()]
      .filter(({ id }) => id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit),
  lockPlanned: async (_em, id) => rows.get(id) ?? null,
  trigger: async (_deps, id, at) => void starts.push({ id, at }),
});

let database: TestDatabase;
let orm: Orm;
let engine: Engine;
let transactions: Transactions;
let installationId: string;
let worker: Worker;
let running: Promise<void>;
let connection: NativeConnection;
const log = pino({ level: 'silent' });

beforeAll(async () => {
  const [created, namespace] = await Promise.all([createDatabase(), createNamespace()]);
  database = created;
  const config = createTestConfig(database.url, { TEMPORAL_NAMESPACE: namespace });
  orm = openDatabase(config);
  ({ id: installationId } = await openInstallation(orm, new KeyRing(config.secretKeys)));
  engine = openEngine(config.temporal);
  await bindEngineNamespace(orm, await engine.check());
  transactions = new Transactions(
    orm,
    new Dispatcher({ client: engine.client, orm, installationId, log, signals: eagerSignals }),
  );
  installEngineRuntime(log);
  connection = await NativeConnection.connect({ address: config.temporal.address });
  worker = await Worker.create({
    connection,
    namespace,
    taskQueue: coordinatorQueue,
    workflowBundle: await cachedWorkflowBundle(join(inject('scratchDirectory'), 'cache')),
    activities: createScheduledWorkActivities({} as never, [testWork]),
  });
  running = worker.run();
});

afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
  await engine.close();
  await orm.close();
  await database.drop();
});

const second = (id: string, isPaused = false): PlannedWork => ({
  id,
  spec: { every: 'PT1S' },
  jitterSeconds: 0,
  isPaused,
});
const yearly = (id: string, cron = '0 0 1 1 *', timezone = 'UTC'): PlannedWork => ({
  id,
  spec: { cron, timezone },
  jitterSeconds: 0,
  isPaused: false,
});
const plan = (work: PlannedWork) => transactions.run(async (tx) => planWork(tx, kind, work));
const handleOf = (id: string) => engine.client.schedule.getHandle(scheduleIdOf(kind, id));
const startsOf = (id: string) => starts.filter((start) => start.id === id);
const identity = () => ({ client: engine.client, installationId });

/** Waits as long as a test may take: the engine's lists are late on a busy machine. */
async function eventually(check: () => unknown): Promise<void> {
  await expect.poll(check, { timeout: 100_000, interval: 200 }).toBeTruthy();
}

describe('a schedule of the engine', () => {
  it('starts the work at its times, but neither while it is paused nor after it was deleted', async () => {
    const id = newId();
    await plan(second(id));
    await eventually(() => startsOf(id).length >= 2);
    const times = startsOf(id).map(({ at }) => at.getTime());
    expect(times.every((time) => time % 1000 === 0)).toBe(true);
    expect(new Set(times).size).toBe(times.length);
    await plan(second(id, true));
    await eventually(async () => (await handleOf(id).describe()).state.paused);
    // Between two starts of another schedule with the same interval, a time of this one passes.
    const clock = newId();
    await plan(second(clock));
    await eventually(() => startsOf(clock).length >= 1);
    const paused = startsOf(id).length;
    const seconds = startsOf(clock).length;
    await eventually(() => startsOf(clock).length > seconds);
    expect(startsOf(id)).toHaveLength(paused);
    for (const each of [id, clock]) {
      await transactions.run(async (tx) => dropWork(tx, kind, each));
      await eventually(() => isGone(each));
    }
  });

  it('has the times that the service computes, in its time zone', async () => {
    for (const [cron, timezone] of [
      ['0 18 * * MON-FRI', 'europe/berlin'],
      ['*/15 8-10 1,15 * *', 'UTC'],
      ['30 2 * * *', 'America/New_York'],
      ['0 0 29 2 *', 'Asia/Kolkata'],
      ['30 1-3 * 3,11 SUN', 'America/New_York'],
    ] as const) {
      const work = yearly(newId(), cron, timezone);
      await upsertSchedule(identity(), scheduleIdOf(kind, work.id), toEngineSchedule(kind, work));
      const { info } = await handleOf(work.id).describe();
      const expected = nextTimes(work.spec, work.id, new Date(), info.nextActionTimes.length);
      // The service looks nine years ahead.
      expect(info.nextActionTimes.slice(0, expected.length), `${cron} ${timezone}`).toEqual(expected);
      expect(expected.length).toBeGreaterThan(1);
      await handleOf(work.id).delete();
    }
  });

  it('repeats an interval at the times that the service computes', async () => {
    const work = { ...yearly(newId()), spec: { every: 'PT6H' } };
    await upsertSchedule(identity(), scheduleIdOf(kind, work.id), toEngineSchedule(kind, work));
    const { info } = await handleOf(work.id).describe();
    expect(info.nextActionTimes).toEqual(nextTimes(work.spec, work.id, new Date(), info.nextActionTimes.length));
    await handleOf(work.id).delete();
  });

  it('is neither changed nor deleted by another installation', async () => {
    const work = yearly(newId());
    const scheduleId = scheduleIdOf(kind, work.id);
    await upsertSchedule(identity(), scheduleId, toEngineSchedule(kind, work));
    const other = { client: engine.client, installationId: newId() };
    await expect(upsertSchedule(other, scheduleId, toEngineSchedule(kind, work))).rejects.toThrow('did not start');
    await expect(deleteSchedule(other, scheduleId)).rejects.toThrow('did not start');
    await expect(listSchedules(other)).resolves.toEqual([]);
    await handleOf(work.id).delete();
  });
});

describe('the comparison with the engine', () => {
  const repair = () => repairSchedules({ orm, transactions, engine, installationId, log }, [testWork]);
  const isListed = async (id: string) => (await listSchedules(identity())).some((listed) => listed.id === id);

  it('restores what the engine has lost, corrects other times, and removes schedules without a row', async () => {
    const [lost, changed, removed] = [yearly(newId()), yearly(newId()), yearly(newId())];
    for (const work of [changed, removed]) await plan(work);
    await eventually(async () => (await isListed(changed.id)) && (await isListed(removed.id)));
    rows.set(lost.id, lost);
    rows.set(changed.id, yearly(changed.id, '0 12 1 6 *'));
    // The engine's list may be some seconds late, so a worker compares again and again.
    await eventually(async () => {
      await repair();
      return !(await isGone(lost.id)) && (await isGone(removed.id));
    });
    await eventually(async () => (await handleOf(changed.id).describe()).spec.calendars?.[0]?.hour[0]?.start === 12);
    await eventually(async () => {
      // What the comparisons before have sent may restore it once more.
      await deleteSchedule(identity(), scheduleIdOf(kind, lost.id));
      return !(await isListed(lost.id));
    });
    await eventually(async () => {
      await repair();
      return !(await isGone(lost.id));
    });
  });
});

async function isGone(id: string): Promise<boolean> {
  return handleOf(id)
    .describe()
    .then(
      () => false,
      () => true,
    );
}
