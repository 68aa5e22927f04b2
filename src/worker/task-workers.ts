import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createAssemblyRunActivities } from '#activities/assembly-runs.ts';
import { createAttemptActivities } from '#activities/attempts/execute-attempt.ts';
import type { AttemptDeps } from '#activities/deps.ts';
import { createPluginRestorationActivities } from '#activities/plugin-restorations.ts';
import { redactActivityErrors } from '#activities/redact-errors.ts';
import { createRunActivities } from '#activities/runs.ts';
import { createScheduledWorkActivities } from '#activities/scheduled-work.ts';
import { createCheckActivities, createCheckStepActivities } from '#activities/template-checks.ts';
import { createUndoCheckActivities } from '#activities/undo-checks.ts';
import { type Config, codeCachePath } from '#config';
import type { NodeDeps } from '#domain/assemblies/runs/nodes/admit-node.ts';
import type { RestorationDeps } from '#domain/plugins/restorations/steps.ts';
import { checkQueue } from '#domain/registry/checks/model.ts';
import { poolQueue } from '#domain/runs/model.ts';
import { scheduledWorks } from '#domain/scheduled-work-kinds.ts';
import type { ScheduledWorkDeps } from '#domain/shared/schedules/scheduled-work.ts';
import { waitForServer } from '#domain/shared/tasks/wait-for-server.ts';
import { isEngineUnreachable } from '#engine/connection.ts';
import { coordinatorQueue } from '#engine/queues.ts';
import { installEngineRuntime } from './engine-log.ts';
import { cachedWorkflowBundle } from './workflow-bundle.ts';

/** How long attempts that are interrupted after draining may take to end. */
export const interruptSeconds = 60;

/** How many checks of one pool a worker runs at once. */
const checksAtOnce = 2;

export interface TaskWorkers {
  /** Resolves when all have stopped. Rejects if one fails. */
  readonly done: Promise<void>;
  /** Begins to take work. Call it once. */
  start(): void;
  /** Accepts no more attempts. Runs are still advanced. */
  drain(): void;
  /** Accepts no more work, and waits for attempts for the configured time. Then plans are handed back and applies interrupted. */
  close(): Promise<void>;
}

/** The dependencies of the activities on all queues. */
export type TaskDeps = AttemptDeps & NodeDeps & ScheduledWorkDeps & RestorationDeps;

/** One task worker for the coordinator's own queue, and one for the queue of each pool. */
export async function openTaskWorkers(
  config: Config,
  deps: TaskDeps & { attempts: { close(): void; interruptAll(): void } },
): Promise<TaskWorkers> {
  installEngineRuntime(deps.log);
  const { address, tls, apiKey } = config.temporal;
  const connection = await waitForServer('temporal', { isUnreachable: isEngineUnreachable, log: deps.log }, () =>
    NativeConnection.connect({ address, ...(tls && { tls }), ...(apiKey && { apiKey }) }),
  );
  const { drainSeconds } = config.worker;
  const { coordinator, pools } = await createWorkers(connection, config, deps);
  const workers = [coordinator, ...pools];
  const finished = Promise.withResolvers<void>();
  return {
    done: finished.promise,
    start: () => {
      const ended = Promise.all(workers.map((worker) => worker.run())).then(() => connection.close());
      ended.then(finished.resolve, finished.reject);
    },
    drain: () => {
      deps.attempts.close();
      pools.forEach(shutDown);
    },
    close: async () => {
      deps.attempts.close();
      workers.forEach(shutDown);
      const interrupt = setTimeout(() => deps.attempts.interruptAll(), drainSeconds * 1000);
      await finished.promise.finally(() => clearTimeout(interrupt));
    },
  };
}

/** The worker of the coordinator's queue, and one for each pool. */
async function createWorkers(connection: NativeConnection, config: Config, deps: TaskDeps) {
  const { drainSeconds } = config.worker;
  const common = {
    connection,
    namespace: config.temporal.namespace,
    shutdownGraceTime: drainSeconds * 1000,
    shutdownForceTime: (drainSeconds + interruptSeconds) * 1000,
  };
  const coordinator = await Worker.create({
    ...common,
    taskQueue: coordinatorQueue,
    // A step of a run is a transaction. If there were more steps than connections, they would only wait for each other.
    maxConcurrentLocalActivityExecutions: config.databasePoolSize,
    workflowTaskPollerBehavior: autoscaled(16),
    workflowBundle: await cachedWorkflowBundle(codeCachePath(config.dataDir)),
    activities: redactActivityErrors(
      {
        ...createRunActivities(deps),
        ...createAssemblyRunActivities(deps),
        ...createScheduledWorkActivities(deps, scheduledWorks),
        ...createPluginRestorationActivities(deps),
        ...createCheckStepActivities(deps),
        ...createUndoCheckActivities(deps),
      },
      deps.log,
    ),
  });
  const pools = await Promise.all(
    config.worker.pools.flatMap((pool) => [
      Worker.create(poolOptions(common, pool, config, deps)),
      // Only a sandbox isolates a template that nobody has approved, or even published.
      ...(deps.isolation === 'sandbox' ? [Worker.create(checkOptions(common, pool, deps))] : []),
    ]),
  );
  return { coordinator, pools };
}

function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

function poolOptions(
  common: Pick<WorkerOptions, 'connection'>,
  pool: string,
  config: Config,
  deps: AttemptDeps,
): WorkerOptions {
  return {
    ...common,
    taskQueue: poolQueue(pool, deps.isolation),
    activities: redactActivityErrors(createAttemptActivities(deps), deps.log),
    maxConcurrentActivityTaskExecutions: config.worker.concurrency,
    activityTaskPollerBehavior: autoscaled(Math.max(2, config.worker.concurrency)),
    // A cancellation comes with the answer to a heartbeat, which the SDK would otherwise send only every half minute.
    maxHeartbeatThrottleInterval: '2s',
    defaultHeartbeatThrottleInterval: '2s',
  };
}

/** Checks have their own slots, so that they do not use those of runs. */
function checkOptions(common: Pick<WorkerOptions, 'connection'>, pool: string, deps: AttemptDeps): WorkerOptions {
  return {
    ...common,
    taskQueue: checkQueue(pool),
    activities: redactActivityErrors(createCheckActivities(deps), deps.log),
    maxConcurrentActivityTaskExecutions: checksAtOnce,
    activityTaskPollerBehavior: autoscaled(checksAtOnce),
  };
}

/** Polls as often as there is work, and one at a time while there is none. */
function autoscaled(maximum: number): NonNullable<WorkerOptions['activityTaskPollerBehavior']> {
  return { type: 'autoscaling', minimum: 1, initial: 2, maximum };
}
