import { join } from 'node:path';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { AttemptDeps } from '#activities/deps.ts';
import { createAttemptActivities } from '#activities/execute-attempt.ts';
import { redactActivityErrors } from '#activities/redact-errors.ts';
import { createRunActivities } from '#activities/runs.ts';
import type { Config } from '#config';
import { poolQueue } from '#domain/runs/model.ts';
import { waitForServer } from '#domain/shared/wait-for-server.ts';
import { isEngineUnreachable } from '#engine/connection.ts';
import { coordinatorQueue } from '#engine/deliver.ts';
import { installEngineRuntime } from './engine-log.ts';
import { cachedWorkflowBundle } from './workflow-bundle.ts';

/** Added to the time for draining: how long attempts that are cut off may take to end. */
export const cutOffSeconds = 60;

export interface TaskWorkers {
  /** Resolves when all have stopped; rejects where one failed. */
  readonly done: Promise<void>;
  /** Begins to take work; once. */
  start(): void;
  /** Executes nothing new; runs are advanced as before. */
  drain(): void;
  /** Lets what is under way go on for the time of the setting; then plans are handed back and applies interrupted. */
  close(): Promise<void>;
}

/** One task worker for the coordinator's own queue, and one for the queue of each pool. */
export async function openTaskWorkers(
  config: Config,
  deps: AttemptDeps & { attempts: { close(): void; interruptAll(): void } },
): Promise<TaskWorkers> {
  installEngineRuntime(deps.log);
  const { address, tls, apiKey, namespace } = config.temporal;
  const connection = await waitForServer('temporal', { isAway: isEngineUnreachable, log: deps.log }, () =>
    NativeConnection.connect({ address, ...(tls && { tls }), ...(apiKey && { apiKey }) }),
  );
  const { drainSeconds } = config.worker;
  const common = {
    ...{ connection, namespace },
    shutdownGraceTime: drainSeconds * 1000,
    shutdownForceTime: (drainSeconds + cutOffSeconds) * 1000,
  };
  const coordinator = await Worker.create({
    ...common,
    taskQueue: coordinatorQueue,
    // A step of a run is a transaction: more of them at once than connections would only wait for each other.
    maxConcurrentLocalActivityExecutions: config.databasePoolSize,
    workflowTaskPollerBehavior: autoscaled(16),
    workflowBundle: await cachedWorkflowBundle(join(config.dataDir, 'cache')),
    activities: redactActivityErrors(createRunActivities(deps), deps.log),
  });
  const pools = await Promise.all(
    config.worker.pools.map((pool) => Worker.create(poolOptions(common, pool, config, deps))),
  );
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
      const cutOff = setTimeout(() => deps.attempts.interruptAll(), drainSeconds * 1000);
      await finished.promise.finally(() => clearTimeout(cutOff));
    },
  };
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
    // Cancellation comes with the answer to a heartbeat: it must not wait for the SDK's usual half minute.
    maxHeartbeatThrottleInterval: '2s',
    defaultHeartbeatThrottleInterval: '2s',
  };
}

/** As many polls as there is work for: one while nothing happens. */
function autoscaled(maximum: number): NonNullable<WorkerOptions['activityTaskPollerBehavior']> {
  return { type: 'autoscaling', minimum: 1, initial: 2, maximum };
}
