import { hostname } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { Config } from '#config';
import { isConnectionError } from '#database/errors.ts';
import { recordRefusedState } from '#domain/runs/attempts/refused-state.ts';
import { storeAttemptState } from '#domain/runs/attempts/state.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { bindEngineNamespace, openInstallation } from '#domain/shared/installation/installation.ts';
import { release } from '#domain/shared/installation/release.ts';
import { logOptions } from '#domain/shared/logging/log-options.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { waitForServer } from '#domain/shared/wait-for-server.ts';
import type { WorkerFacts } from '#domain/workers/model.ts';
import { isEngineUnreachable, openEngine } from '#engine/connection.ts';
import { DatabaseMaintenance } from '#engine/database-maintenance.ts';
import { Dispatcher } from '#engine/dispatcher.ts';
import { Sweeper } from '#engine/sweeper.ts';
import type { Executor } from '#executors/client/executor.ts';
import { discoverTools } from '#executors/client/tools.ts';
import { openDatabase } from '#open-database';
import { AttemptWatch } from './attempt-watch.ts';
import { executionLimits, openExecutor } from './executor.ts';
import { openExpiry } from './expiry.ts';
import { openReconciler } from './reconciler.ts';
import { WorkerRegistration } from './registration.ts';
import { StateRecovery } from './state-recovery.ts';
import { StateSpool } from './state-spool.ts';
import { interruptSeconds, openTaskWorkers } from './task-workers.ts';

export interface RunningWorker {
  /** Resolves when the worker ends by itself; rejects where it failed. */
  readonly done: Promise<void>;
  /** How long `close` may take. */
  readonly stopWithinMs: number;
  /** What whoever started it should know. */
  readonly notice?: string;
  close(): Promise<void>;
}

/** What is left to do once everything that executed has ended. */
const leaveWithinMs = 10_000;

/**
 * Runs a worker: it advances runs, executes attempts of its pools and delivers what was left in the outbox. Closing lets
 * what is under way finish, hands plans back that do not in time, and then leaves.
 */
export async function runWorker(config: Config): Promise<RunningWorker> {
  const log = pino({ level: config.logLevel, ...logOptions });
  const orm = openDatabase(config);
  const keyRing = new KeyRing(config.secretKeys);
  const database = { isAway: isConnectionError, log };
  const installation = await waitForServer('database', database, () => openInstallation(orm, keyRing));
  const engine = openEngine(config.temporal);
  const namespaceId = await waitForServer('temporal', { isAway: isEngineUnreachable, log }, () => engine.check());
  await waitForServer('database', database, () => bindEngineNamespace(orm, namespaceId));
  const delivery = { client: engine.client, orm, installationId: installation.id, log };
  const dispatcher = new Dispatcher(delivery);
  const transactions = new Transactions(orm, dispatcher.deliver, dispatcher.foresee);
  const workerId = newId();
  const spool = new StateSpool({
    ...{ directory: join(config.dataDir, 'spool'), keyRing, log },
    save: (state) => transactions.run((tx) => storeAttemptState(tx, keyRing, state)),
    note: (refused) => transactions.run((tx) => recordRefusedState(tx, { ...refused, workerId })),
  });
  const stateRecovery = new StateRecovery({ spool, log });
  await stateRecovery.start();
  const attempts = new AttemptWatch(orm, log);
  const executor = await openExecutor(config);
  if (executor.swept > 0) log.warn({ hosts: executor.swept }, 'removed what killed executor hosts had left');
  const facts = await describeWorker(config, workerId, executor);
  const tasks = await openTaskWorkers(config, {
    ...{ orm, transactions, keyRing, log, workerId, executor, spool, attempts, isolation: facts.isolation },
    limits: executionLimits(config),
  });
  const registration = new WorkerRegistration(orm, facts, tasks.drain, log);
  // Known before it works: an attempt whose worker nobody knows is taken for lost.
  await waitForServer('database', database, () => registration.start());
  const sweeper = new Sweeper(delivery);
  sweeper.start();
  const reconciler = openReconciler({ orm, transactions, engine, log });
  reconciler.start('later');
  const maintenance = new DatabaseMaintenance({ orm, log, auditRetentionDays: config.auditRetentionDays });
  maintenance.start();
  const expirer = openExpiry({ orm, transactions, keyRing, bindingKey: installation.bindingKey, log });
  expirer.start('later');
  tasks.start();
  const { pools, tools, isolation, limits } = facts;
  log.info({ worker_id: workerId, pools, tools, isolation, limits }, 'worker started');
  const notice = facts.isolationReason && `Templates are not contained on this machine: ${facts.isolationReason}.`;
  if (notice !== null) log.warn({ worker_id: workerId }, notice);
  return {
    ...(notice !== null && { notice }),
    done: tasks.done,
    stopWithinMs: (config.worker.drainSeconds + interruptSeconds) * 1000 + leaveWithinMs,
    close: async () => {
      await registration.drain();
      await tasks.close();
      spool.close();
      await sweeper.stop();
      await reconciler.stop();
      await maintenance.stop();
      await expirer.stop();
      await stateRecovery.stop();
      await executor.close();
      await dispatcher.drain(5_000);
      await registration.stop();
      await engine.close();
      await orm.close();
    },
  };
}

async function describeWorker({ worker }: Config, id: string, executor: Executor): Promise<WorkerFacts> {
  const tools = await discoverTools();
  const { isolation, limits, reason } = executor.isolation;
  return {
    ...{ id, host: hostname(), processId: process.pid, version: release },
    ...{ pools: [...worker.pools], concurrency: worker.concurrency },
    tools: tools.map(({ name, version }) => ({ name, version })),
    ...{ isolation, limits, isolationReason: reason },
  };
}
