import { join } from 'node:path';
import type { StartConfig } from '#config';
import { claimAccount, findServiceAccount } from './account/account.ts';
import { openDataDirectory, rotateLog } from './data-directory.ts';
import { embedPostgres, embedTemporal, type Place } from './embedded-servers.ts';
import { openSocketDirectory } from './postgres/socket-directory.ts';
import { runOnce } from './run-once.ts';
import { type ReadyMessage, Supervisor } from './supervisor.ts';

/** Everything that `start` runs, in the order in which it has to be stopped. */
export type Stack = {
  /** Where the API listens: what this machine's own programs use. */
  readonly url: string;
  /** Where clients find it. */
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** Of the service processes and commands. */
  readonly environment: NodeJS.ProcessEnv;
  /** Resolves with one sentence when an embedded server ends by itself. */
  readonly broken: Promise<string>;
};

type Stops = { services: Supervisor[]; servers: (() => Promise<void>)[] };

/**
 * Starts what the configuration does not name (PostgreSQL, Temporal), brings the schema to this release's, and then the
 * API and a worker beside each other. Whatever was started is in `stops`, also when this fails.
 * @throws StartError
 */
export async function startStack(
  config: StartConfig,
  program: string,
  stops: Stops,
  report: (line: string) => void,
): Promise<Stack> {
  openDataDirectory(config.dataDir);
  const place = openPlace(config, stops.servers, report);
  const common = {
    ...process.env,
    // The administrator's making alone needs it, and is given it by standard input.
    COORDINATOR_ADMIN_PASSWORD: undefined,
    COORDINATOR_ADMIN_PASSWORD_FILE: undefined,
    // Its content, or the embedded database, is in DATABASE_URL.
    DATABASE_URL_FILE: undefined,
    COORDINATOR_DATA_DIR: config.dataDir,
    // One person's machine: without sandboxes it goes on, and says so.
    COORDINATOR_EXECUTOR_ISOLATION: process.env['COORDINATOR_EXECUTOR_ISOLATION'] || 'auto',
    // Half of a process's start is reading its code; the directory is readable by nobody else.
    NODE_COMPILE_CACHE: join(config.dataDir, 'cache', 'code'),
  };
  const migrated = async () => {
    const databaseUrl = config.databaseUrl ?? (await embedPostgres(place));
    await runOnce('Bringing the database to this release', [program, 'migrate'], {
      ...common,
      DATABASE_URL: databaseUrl,
    });
    return databaseUrl;
  };
  const [databaseUrl, temporalAddress] = await Promise.all([
    migrated(),
    config.temporal.address ?? embedTemporal(place, config.temporal.namespace),
  ]);
  const environment = { ...common, DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress };
  const ready = await startServices(config, program, environment, stops, report);
  return { ...ready, environment, broken: Promise.race([...place.broken, new Promise<never>(() => {})]) };
}

/** Where the embedded servers run: with sockets and an account of their own. */
function openPlace({ dataDir, user }: StartConfig, servers: Place['servers'], report: Place['report']): Place {
  const account = findServiceAccount(dataDir, user);
  claimAccount(account);
  const sockets = openSocketDirectory(dataDir, account);
  return { dataDir, account, sockets, servers, broken: [], report };
}

/** Stops the service processes, letting them finish, and then the servers that they need. */
export async function stopStack(stops: Stops): Promise<void> {
  await Promise.all(stops.services.map((service) => service.stop()));
  await Promise.all(stops.servers.map((stop) => stop()));
}

async function startServices(
  config: StartConfig,
  program: string,
  environment: NodeJS.ProcessEnv,
  stops: Stops,
  report: (line: string) => void,
): Promise<{ url: string; publicUrl: string; adminUrl: string }> {
  const create = (name: 'api' | 'worker', pin?: (ready: ReadyMessage) => NodeJS.ProcessEnv) => {
    const logFile = rotateLog(config.dataDir, name);
    const service = new Supervisor({
      name,
      arguments: [program, name],
      environment,
      logFile,
      report,
      ...(pin && { pin }),
    });
    stops.services.push(service);
    return service;
  };
  const api = create('api', pinPorts);
  const worker = create('worker');
  const [ready, { notice }] = await Promise.all([api.start(), worker.start()]);
  report('The API and a worker are ready.');
  if (notice !== undefined) report(notice);
  const { url = '', adminUrl = '' } = ready;
  return { url, publicUrl: config.baseUrl ?? url, adminUrl };
}

/** A restarted API listens where the first one did, also where the system had chosen the port. */
function pinPorts({ url = '', adminUrl = '' }: ReadyMessage): NodeJS.ProcessEnv {
  return { COORDINATOR_PORT: portOf(url), COORDINATOR_ADMIN_PORT: portOf(adminUrl) };
}

function portOf(url: string): string {
  return new URL(url).port || '80';
}
