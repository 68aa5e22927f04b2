import { setTimeout as sleep } from 'node:timers/promises';
import { listProcesses } from '#test/support/programs/start.ts';
import { readUntil } from '#test/support/read-until.ts';
import type { Installation } from './installation.ts';
import type { Load } from './load.ts';
import type { Random } from './random.ts';
import type { ServiceProcess } from './service-process.ts';
import type { RunKind } from './templates.ts';

/** What a disruption works with. */
export interface DisruptionContext {
  readonly installation: Installation;
  readonly load: Load;
  readonly kinds: readonly RunKind[];
  readonly random: Random;
}

const waitForWorkMs = 20_000;
/** Longer than the heartbeat timeout of an activity. */
const longOutageMs = 24_000;

/** The ways to disrupt an installation. Each resolves when everything that it killed runs again. */
export const disruptions = {
  'worker in plan': (context) => killWorkerIn(context, 'planning'),
  'worker in apply': (context) => killWorkerIn(context, 'applying'),
  'worker in apply, with its executors': (context) => killWorkerIn(context, 'applying', true),
  'every worker': async ({ installation: { workers }, random }) => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await sleep(random.between(200, 3_000));
    await Promise.all(workers.map((worker) => worker.start()));
  },
  'rolling restart of the workers': async ({ installation: { workers } }) => {
    for (const worker of workers) {
      await worker.kill('SIGTERM');
      await worker.start();
    }
  },
  api: async ({ installation: { apis }, random }) => {
    const api = random.pick(apis);
    await api.kill();
    await sleep(random.between(100, 2_000));
    await api.start();
  },
  'api between commit and workflow start': killApiBeforeStart,
  temporal: async ({ installation: { temporal }, random }) => {
    await temporal.kill();
    await sleep(random.between(200, 4_000));
    await temporal.start();
  },
  'temporal for longer than it waits for a worker': outlastTemporal,
  'temporal, and a worker meanwhile': async ({ installation: { temporal, workers }, random }) => {
    const worker = random.pick(workers);
    await temporal.kill();
    await worker.kill();
    const ready = worker.start();
    await sleep(random.between(2_000, 6_000));
    await temporal.start();
    await ready;
  },
  postgres: async ({ installation: { postgres }, random }) => {
    await postgres.kill();
    await sleep(random.between(200, 3_000));
    await postgres.start();
  },
  'postgres, and a worker and an api meanwhile': async ({ installation: { postgres, workers, apis }, random }) => {
    const [worker, api] = [random.pick(workers), random.pick(apis)];
    await postgres.kill();
    await Promise.all([worker.kill(), api.kill()]);
    const ready = [worker.start(), api.start()];
    await sleep(random.between(2_000, 6_000));
    await postgres.start();
    await Promise.all(ready);
  },
} as const satisfies Record<string, (context: DisruptionContext) => Promise<void>>;

export type Disruption = keyof typeof disruptions;
export const disruptionNames = Object.keys(disruptions) as Disruption[];

/** An apply that continues during an outage of Temporal must finish, even though Temporal considers its worker lost. */
async function outlastTemporal({ installation, load, kinds }: DisruptionContext): Promise<void> {
  const { temporal } = installation;
  const enduring = kinds.find(({ name }) => name === 'enduring');
  const admission = enduring && (await load.admit(enduring));
  if (!admission) throw new Error('there is no template for long runs');
  load.mustSucceed.add(admission.key);
  await awaitApply(installation, admission.key, 'a.worker_id is not null');
  await temporal.kill();
  await sleep(longOutageMs);
  await temporal.start();
  // The next disruption may kill the worker of an apply: it must not be this one.
  await awaitApply(installation, admission.key, 'a.outcome is not null', 3 * waitForWorkMs);
}

async function awaitApply(
  { query }: Installation,
  key: string,
  condition: string,
  maxMs = waitForWorkMs,
): Promise<void> {
  const sql = `select 1 from runs r join run_attempts a on a.id = r.attempt_id
    where r.idempotency_key = $1 and a.phase = 'applying' and ${condition}`;
  await readUntil(
    () => query(sql, [key]),
    (rows) => rows.length > 0,
    maxMs,
  );
}

/** Kills a worker as soon as one executes this phase; after a timeout, a random worker. */
async function killWorkerIn(
  context: DisruptionContext,
  phase: 'planning' | 'applying',
  withExecutors = false,
): Promise<void> {
  const { random } = context;
  const worker = (await findWorkerIn(context, phase)) ?? random.pick(context.installation.workers);
  await sleep(random.between(0, 400));
  const executors = withExecutors ? listChildren(worker.pid) : [];
  for (const pid of executors) signalQuietly(pid, 'SIGSTOP');
  await worker.kill();
  for (const pid of executors) signalQuietly(pid, 'SIGKILL');
  await sleep(random.between(200, 3_000));
  await worker.start();
}

async function findWorkerIn({ installation }: DisruptionContext, phase: string): Promise<ServiceProcess | undefined> {
  const sql = `select w.process_id from run_attempts a join runs r on r.attempt_id = a.id join workers w on w.id = a.worker_id
    where a.phase = $1 and a.outcome is null and a.started_at < now() - interval '300 ms'`;
  const find = async () => {
    // Another disruption may have hit the database.
    const rows = await installation.query<{ process_id: number }>(sql, [phase]).catch(() => []);
    return installation.workers.find(({ pid }) => rows.some((row) => row.process_id === pid));
  };
  return readUntil(find, (found) => found !== undefined, waitForWorkMs);
}

function listChildren(pid: number): number[] {
  return listProcesses().flatMap((each) => (each.parent === pid ? [each.pid] : []));
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

/** Freezes Temporal, so that admissions are committed but their workflows are not started when the APIs die. */
async function killApiBeforeStart({ installation, load, kinds, random }: DisruptionContext): Promise<void> {
  const { temporal, apis } = installation;
  temporal.freeze();
  await Promise.all(Array.from({ length: 6 }, () => load.admit(random.pick(kinds))));
  await Promise.all(apis.map((api) => api.kill()));
  temporal.thaw();
  await Promise.all(apis.map((api) => api.start()));
}
