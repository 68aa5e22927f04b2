import { setTimeout as sleep } from 'node:timers/promises';
import { listProcesses } from '#test/support/start.ts';
import type { Installation } from './installation.ts';
import type { Load } from './load.ts';
import type { Random } from './random.ts';
import type { ServiceProcess } from './service-process.ts';
import type { Kind } from './templates.ts';

/** What a blow is struck with. */
export interface Ring {
  readonly installation: Installation;
  readonly load: Load;
  readonly kinds: readonly Kind[];
  readonly random: Random;
}

const awaitWorkMs = 20_000;
/** Longer than the engine waits for a worker's word. */
const longAbsenceMs = 24_000;

/** Everything that is done to an installation; each resolves when what it killed was started again. */
export const blows = {
  'worker in plan': (ring) => killWorkerIn(ring, 'planning'),
  'worker in apply': (ring) => killWorkerIn(ring, 'applying'),
  'worker in apply, with its executors': (ring) => killWorkerIn(ring, 'applying', true),
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
} as const satisfies Record<string, (ring: Ring) => Promise<void>>;

export type Blow = keyof typeof blows;
export const blowNames = Object.keys(blows) as Blow[];

/** An apply that goes on while the engine is away must come to its own end, though the engine takes its worker for lost. */
async function outlastTemporal({ installation, load, kinds }: Ring): Promise<void> {
  const { temporal } = installation;
  const enduring = kinds.find(({ name }) => name === 'enduring');
  const admission = enduring && (await load.admit(enduring));
  if (!admission) throw new Error('there is no template of long runs');
  load.mustSucceed.add(admission.key);
  await awaitApply(installation, admission.key);
  await temporal.kill();
  await sleep(longAbsenceMs);
  await temporal.start();
}

async function awaitApply({ query }: Installation, key: string): Promise<void> {
  for (const deadline = Date.now() + awaitWorkMs; Date.now() < deadline; await sleep(200)) {
    const rows = await query(
      `select 1 from runs r join run_attempts a on a.id = r.attempt_id
        where r.idempotency_key = $1 and a.phase = 'applying' and a.worker_id is not null`,
      [key],
    );
    if (rows.length > 0) return;
  }
}

/** Kills the worker that is at work in a phase, as soon as one is; whichever there is where none is in time. */
async function killWorkerIn(ring: Ring, phase: 'planning' | 'applying', withExecutors = false): Promise<void> {
  const { random } = ring;
  const worker = (await findWorkerIn(ring, phase)) ?? random.pick(ring.installation.workers);
  await sleep(random.between(0, 400));
  const executors = withExecutors ? listChildren(worker.pid) : [];
  for (const pid of executors) signalQuietly(pid, 'SIGSTOP');
  await worker.kill();
  for (const pid of executors) signalQuietly(pid, 'SIGKILL');
  await sleep(random.between(200, 3_000));
  await worker.start();
}

async function findWorkerIn({ installation }: Ring, phase: string): Promise<ServiceProcess | undefined> {
  for (const deadline = Date.now() + awaitWorkMs; Date.now() < deadline; await sleep(150)) {
    const rows = await installation
      .query<{ process_id: number }>(
        `select w.process_id from run_attempts a join runs r on r.attempt_id = a.id join workers w on w.id = a.worker_id
          where a.phase = $1 and a.outcome is null and a.started_at < now() - interval '300 ms'`,
        [phase],
      )
      .catch(() => []); // another blow may have hit the database
    const found = installation.workers.find(({ pid }) => rows.some((row) => row.process_id === pid));
    if (found) return found;
  }
  return undefined;
}

function listChildren(pid: number): number[] {
  return listProcesses().flatMap((each) => (each.parent === pid ? [each.pid] : []));
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

/** The engine takes calls and does not answer, so that what was committed is not yet started when the process dies. */
async function killApiBeforeStart({ installation, load, kinds, random }: Ring): Promise<void> {
  const { temporal, apis } = installation;
  temporal.freeze();
  await Promise.all(Array.from({ length: 6 }, () => load.admit(random.pick(kinds))));
  await Promise.all(apis.map((api) => api.kill()));
  temporal.thaw();
  await Promise.all(apis.map((api) => api.start()));
}
