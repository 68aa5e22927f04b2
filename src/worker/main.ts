import { hostname } from 'node:os';
import pino, { type Logger } from 'pino';
import type { Config } from '#config';
import type { Orm } from '#database/database.ts';
import { isDatabaseUnreachable } from '#database/errors.ts';
import { Signals } from '#database/signals.ts';
import { MailServer } from '#domain/messages/mail/mail-server.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { newId } from '#domain/shared/ids.ts';
import {
  bindEngineNamespace,
  type InstallationKeys,
  openInstallation,
} from '#domain/shared/installation/installation.ts';
import { release } from '#domain/shared/installation/release.ts';
import { logOptions } from '#domain/shared/logging/log-options.ts';
import { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { waitForServer } from '#domain/shared/tasks/wait-for-server.ts';
import type { WorkerFacts } from '#domain/workers/model.ts';
import { isEngineUnreachable, openEngine } from '#engine/connection.ts';
import { Dispatcher } from '#engine/dispatcher.ts';
import type { Executor } from '#executors/client/executor.ts';
import { openDatabase } from '#open-database';
import { AttemptWatch } from './attempt-watch.ts';
import { startBackgroundTasks } from './background/background-tasks.ts';
import { executionLimits, openExecutor } from './executor.ts';
import { openMetricsServer } from './metrics-server.ts';
import { addProviderMetrics } from './provider-metrics.ts';
import { WorkerRegistration } from './registration.ts';
import { openSpool } from './states/open-spool.ts';
import { StateRecovery } from './states/state-recovery.ts';
import { interruptSeconds, openTaskWorkers } from './task-workers.ts';

export interface RunningWorker {
  /** Resolves when the worker ends by itself. Rejects if it fails. */
  readonly done: Promise<void>;
  /** How long `close` may take. */
  readonly stopWithinMs: number;
  /** A message for the operator who started it. */
  readonly notice?: string;
  close(): Promise<void>;
}

/** How long the rest of the stop may take once all attempts have ended. */
const shutdownMs = 10_000;

/** How often a worker without the right key ring reports that in its log. */
const remindEveryMs = 10 * 60_000;

/**
 * Runs a worker. It advances runs, executes attempts of its pools, and delivers messages that a dead process left in the outbox. `close`
 * lets attempts finish. Those that do not finish in time are interrupted, and other workers continue their plans.
 */
export async function runWorker(config: Config): Promise<RunningWorker> {
  const base = await open(config);
  if (base.installation.problem !== null) return idle(base, base.installation.problem);
  return work(config, await connect(config, base));
}

/**
 * Runs a worker whose key ring is not that of the installation. It accepts no work, because every run would fail, while it could wait for a
 * worker with the right key ring.
 */
function idle({ log, orm }: Base, problem: string): RunningWorker {
  const notice = `The worker takes no work. ${problem}`;
  log.error(notice);
  // The timer keeps the process alive. Otherwise, a supervisor would start it again and again.
  const reminder = setInterval(() => log.error(notice), remindEveryMs);
  const close = async () => {
    clearInterval(reminder);
    await orm.close();
  };
  return { notice, done: new Promise(() => {}), stopWithinMs: shutdownMs, close };
}

async function work(config: Config, services: Services): Promise<RunningWorker> {
  const { log } = services;
  const metrics = await openMetricsServer(config, log);
  const execution = await openExecution(config, services);
  const { tasks, registration, facts, executor } = execution;
  if (metrics.registry !== null) addProviderMetrics(metrics.registry, executor);
  // The worker registers before it works, because an attempt counts as lost while its worker is not registered.
  await waitForDatabase(log, () => registration.start());
  const background = startBackground(config, services, execution.evaluator);
  tasks.start();
  const notice = logStart(facts, log);
  return {
    ...(notice !== null && { notice }),
    done: tasks.done,
    stopWithinMs: (config.worker.drainSeconds + interruptSeconds) * 1000 + shutdownMs,
    close: () => close(services, execution, background).finally(() => metrics.close()),
  };
}

/** Opens everything that executes attempts and advances runs, ready to start. */
async function openExecution(config: Config, services: Services) {
  const { log, orm, keyRing } = services;
  const workerId = newId();
  const spool = openSpool(config, services, workerId);
  const stateRecovery = new StateRecovery({ spool, log });
  await stateRecovery.start();
  const executor = await openExecutor(config);
  if (executor.swept > 0) log.warn({ hosts: executor.swept }, 'removed the leftovers of killed executor hosts');
  const facts = await describeWorker(config, workerId, executor);
  const evaluator = new Evaluator();
  const tasks = await openTaskWorkers(config, {
    ...systemOf(services),
    keyRing,
    evaluator,
    pluginRoots: config.pluginRoots,
    workerId,
    executor,
    findTools: executor.findTools,
    spool,
    attempts: new AttemptWatch(orm, log),
    isolation: facts.isolation,
    issuer: config.issuer,
    limits: executionLimits(config),
  });
  const registration = new WorkerRegistration({
    ...systemOf(services),
    facts,
    findTools: executor.findTools,
    onDrain: tasks.drain,
  });
  return { spool, stateRecovery, executor, facts, evaluator, tasks, registration };
}

/** Starts the background tasks that every worker has. */
function startBackground(config: Config, services: Services, evaluator: Evaluator): Background {
  const { engine, keyRing, installation } = services;
  const { auditRetentionDays, driftRetention, signingKeyDays } = config;
  const http = new OutboundHttp(config.outbound, { connections: null });
  const tasks = startBackgroundTasks({
    ...systemOf(services),
    engine,
    keyRing,
    evaluator,
    http,
    mail: config.mail && new MailServer(config.mail, config.outbound),
    linkOrigin: config.baseUrl,
    installationId: installation.id,
    auditRetentionDays,
    driftRetention,
    signingKeyDays,
  });
  return { tasks, http };
}

/** Stops the worker: attempts end first. The worker stays registered while anything of it still runs. */
async function close(services: Services, execution: Execution, background: Background): Promise<void> {
  await execution.registration.drain();
  await execution.tasks.close();
  execution.spool.close();
  await background.tasks.stop();
  await background.http.close();
  await execution.stateRecovery.stop();
  await execution.executor.close();
  await execution.evaluator.close();
  await services.dispatcher.drain(5_000);
  await execution.registration.stop();
  await disconnect(services);
}

type Execution = Awaited<ReturnType<typeof openExecution>>;

interface Background {
  readonly tasks: { stop(): Promise<void> };
  readonly http: OutboundHttp;
}

type Services = Awaited<ReturnType<typeof connect>>;

interface Base {
  readonly log: Logger;
  readonly orm: Orm;
  readonly keyRing: KeyRing;
  readonly installation: InstallationKeys;
}

/** Connects to the database. It waits until it can be reached. */
async function open(config: Config): Promise<Base> {
  const log = pino({ level: config.logLevel, ...logOptions });
  const orm = openDatabase(config);
  const keyRing = new KeyRing(config.secretKeys);
  return { log, orm, keyRing, installation: await waitForDatabase(log, () => openInstallation(orm, keyRing)) };
}

/** Connects to the engine. It waits until it can be reached. */
async function connect(config: Config, { log, orm, keyRing, installation }: Base) {
  const engine = openEngine(config.temporal);
  const namespaceId = await waitForServer('temporal', { isUnreachable: isEngineUnreachable, log }, () =>
    engine.check(),
  );
  await waitForDatabase(log, () => bindEngineNamespace(orm, namespaceId));
  const signals = new Signals(config.databaseUrl, log);
  signals.start();
  const dispatcher = new Dispatcher({ client: engine.client, orm, installationId: installation.id, log, signals });
  const transactions = new Transactions(orm, dispatcher);
  return { log, orm, keyRing, installation, engine, dispatcher, signals, transactions };
}

/** The dependencies with which every part of the worker acts. */
function systemOf({ orm, log, signals, transactions, installation }: Services) {
  return { orm, log, signals, transactions, bindingKey: installation.bindingKey };
}

async function disconnect({ engine, orm, signals }: Services): Promise<void> {
  await signals.close();
  await engine.close();
  await orm.close();
}

function waitForDatabase<Result>(log: Logger, work: () => Promise<Result>): Promise<Result> {
  return waitForServer('database', { isUnreachable: isDatabaseUnreachable, log }, work);
}

/** Logs that the worker has started. Returns a notice for the operator if templates are not sandboxed, with the reason. */
function logStart({ id, pools, tools, isolation, limits, isolationReason }: WorkerFacts, log: Logger): string | null {
  log.info({ worker_id: id, pools, tools, isolation, limits }, 'worker started');
  if (isolationReason === null) return null;
  const notice = `Templates are not contained on this machine: ${isolationReason}.`;
  log.warn({ worker_id: id }, notice);
  return notice;
}

async function describeWorker({ worker }: Config, id: string, executor: Executor): Promise<WorkerFacts> {
  const tools = await executor.findTools();
  const { isolation, limits, reason } = executor.isolation;
  return {
    id,
    host: hostname(),
    processId: process.pid,
    version: release,
    pools: [...worker.pools],
    concurrency: worker.concurrency,
    tools: tools.map(({ name, version }) => ({ name, version })),
    isolation,
    limits,
    isolationReason: reason,
    takesChecks: isolation === 'sandbox',
    beginsRuns: true,
  };
}
