import pino from 'pino';
import { createAdminServer } from '#api/edge/admin/admin-server.ts';
import { createMetricsRegistry } from '#api/edge/admin/metrics.ts';
import { type DependencyCheck, Readiness } from '#api/edge/admin/readiness.ts';
import { addReconciliationMetrics } from '#api/edge/admin/reconciliation-metrics.ts';
import { addStateMetrics } from '#api/edge/admin/state-metrics.ts';
import { stopServer } from '#api/edge/shutdown.ts';
import { RowFeed } from '#api/pipeline/long-answers/row-feed.ts';
import { ChangeFeed } from '#api/web/live/change-feed.ts';
import type { Config } from '#config';
import { checkConnection, type Orm, pendingMigrations } from '#database/database.ts';
import { isDatabaseUnreachable } from '#database/errors.ts';
import { Signals } from '#database/signals.ts';
import { readWatchedAssemblyRuns } from '#domain/assemblies/runs/store.ts';
import { KeyUses } from '#domain/identity/api-keys/uses.ts';
import { readWatchedRuns } from '#domain/runs/lists/watched-runs-store.ts';
import { RefusalLog } from '#domain/shared/commands/refusals.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { type InstallationKeys, openInstallation } from '#domain/shared/installation/installation.ts';
import { release } from '#domain/shared/installation/release.ts';
import { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { addSpanMetrics } from '#domain/shared/tasks/span-metrics.ts';
import { waitForServer } from '#domain/shared/tasks/wait-for-server.ts';
import { removeLeftGitDirectories } from '#domain/sources/git/directories.ts';
import { type Engine, openEngine } from '#engine/connection.ts';
import { openDatabaseMaintenance } from '#engine/database-maintenance.ts';
import { Dispatcher } from '#engine/dispatcher.ts';
import type { PeriodicTask } from '#engine/periodic-task.ts';
import { openDatabase } from '#open-database';
import { edgeLogOptions } from './edge/log-options.ts';
import { buildServer } from './server.ts';
import type { Services } from './services.ts';

const stopWithinMs = 20_000;
const drainWithinMs = 5_000;

/** Starts the API and its admin listener. `close` lets requests finish first. */
export async function runApi(config: Config): Promise<{ url: string; adminUrl: string; close(): Promise<void> }> {
  const { services, engine, dispatcher, signals } = await connect(config);
  const { orm, keyUses, evaluator, outboundHttp } = services;
  await evaluator.keepCode();
  await removeLeftGitDirectories().catch((err) =>
    services.log.warn({ err }, 'could not remove what a killed process left'),
  );
  const readiness = new Readiness(dependencyChecks(services, engine));
  const registry = createMetricsRegistry();
  addReconciliationMetrics(registry, orm);
  addStateMetrics(registry, orm);
  const stopSpans = config.metrics.enabled ? addSpanMetrics(registry) : () => undefined;
  const app = await buildServer(services, { readiness, registry });
  const admin = await createAdminServer({
    logger: services.log,
    readiness,
    versions: { service: release, node: process.version, api: 'v1' },
    figures: () => ({ deliveries_under_way: dispatcher.pending }),
    registry: config.metrics.enabled ? registry : null,
    metricsBearerToken: config.metrics.bearerToken,
  });
  const maintenance = startMaintenance(services);
  const url = await app.listen({ host: config.host, port: config.port });
  const adminUrl = await admin.listen({ host: config.adminHost, port: config.adminPort });
  return {
    url,
    adminUrl,
    close: async () => {
      await Promise.all([stopServer(app, { within: stopWithinMs }), stopServer(admin, { within: stopWithinMs })]);
      stopSpans();
      await maintenance.stop();
      await dispatcher.drain(drainWithinMs);
      await keyUses.settle();
      await evaluator.close();
      await outboundHttp.close();
      await signals.close();
      await engine.close();
      await orm.close();
    },
  };
}

interface Connections {
  readonly services: Services;
  readonly engine: Engine;
  readonly dispatcher: Dispatcher;
  readonly signals: Signals;
}

/** Connects to the database, waiting until it can be reached, and to the engine. */
async function connect(config: Config): Promise<Connections> {
  const log = pino({ level: config.logLevel, ...edgeLogOptions });
  const orm = openDatabase(config);
  const keyRing = new KeyRing(config.secretKeys);
  const installation = await waitForServer('database', { isUnreachable: isDatabaseUnreachable, log }, () =>
    openInstallation(orm, keyRing),
  );
  if (installation.problem !== null) log.error(`${installation.problem} Reads with API keys go on; nothing else does.`);
  const engine = openEngine(config.temporal);
  const signals = new Signals(config.databaseUrl, log);
  const dispatcher = new Dispatcher({ client: engine.client, orm, installationId: installation.id, log, signals });
  const services = {
    config,
    orm,
    transactions: new Transactions(orm, dispatcher),
    keyRing,
    installation,
    refusals: new RefusalLog(),
    keyUses: new KeyUses(orm, log),
    runFeed: new RowFeed({ orm, log, signals }, readWatchedRuns),
    assemblyRunFeed: new RowFeed({ orm, log, signals }, readWatchedAssemblyRuns),
    changeFeed: new ChangeFeed({ orm, log, signals }),
    evaluator: new Evaluator(),
    outboundHttp: new OutboundHttp(config.outbound, { connections: null }),
    log,
  };
  signals.start();
  return { services, engine, dispatcher, signals };
}

function startMaintenance({ orm, log, transactions, installation, config }: Services): PeriodicTask {
  const maintenance = openDatabaseMaintenance({
    orm,
    log,
    transactions,
    get bindingKey() {
      return installation.bindingKey;
    },
    auditRetentionDays: config.auditRetentionDays,
  });
  maintenance.start();
  return maintenance;
}

function dependencyChecks({ orm, installation }: Services, engine: Engine): DependencyCheck[] {
  return [
    { name: 'database', check: () => checkConnection(orm) },
    { name: 'temporal', check: async () => void (await engine.check()) },
    { name: 'migrations', check: () => refusePendingMigrations(orm) },
    { name: 'key_ring', isOptional: true, check: async () => refuseForeignKeyRing(installation) },
  ];
}

function refuseForeignKeyRing({ problem }: InstallationKeys): void {
  if (problem !== null) throw new Error(problem);
}

async function refusePendingMigrations(orm: Orm): Promise<void> {
  const pending = await pendingMigrations(orm);
  if (pending.length > 0)
    throw new Error(`the database lacks the migrations ${pending.join(', ')}: run the migrate command`);
}
