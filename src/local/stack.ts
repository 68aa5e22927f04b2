import { join } from 'node:path';
import { codeCachePath, type StartConfig } from '#config';
import { type Account, claimAccount, findServiceAccount } from './account/account.ts';
import { openDataDirectory, rotateLog } from './data-directory.ts';
import { findIsolationProblem } from './engine/isolation.ts';
import { startPrivateTemporal } from './engine/private-temporal.ts';
import { nativeMemory } from './node-flags.ts';
import { findFreePort } from './ports.ts';
import { choosePluginReader } from './postgres/plugin-reader.ts';
import { startPostgres } from './postgres/postgres.ts';
import { openSocketDirectory } from './postgres/socket-directory.ts';
import { runSubcommand } from './run-subcommand.ts';
import { type ReadyMessage, type SupervisedProgram, Supervisor } from './supervisor.ts';
import { startTemporal } from './temporal.ts';

/** The facts about the running service that `start` needs. */
export type Stack = {
  /** The URL that the API listens on, for programs on this machine. */
  readonly url: string;
  /** The URL that clients use. */
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** The environment of the service processes and subcommands. */
  readonly environment: NodeJS.ProcessEnv;
  /** Resolves with one sentence when an embedded server ends unexpectedly. */
  readonly broken: Promise<string>;
};

/** The services and servers that `stopStack` stops. */
export type Stops = { services: Supervisor[]; servers: (() => Promise<void>)[] };

/**
 * Starts PostgreSQL and Temporal, unless the configuration names others, and applies the migrations. Meanwhile, an API and a worker load
 * their code. Adds everything that it starts to `stops`, even if it fails later.
 * @throws StartError
 */
export async function startStack(
  given: StartConfig,
  program: string,
  stops: Stops,
  report: (line: string) => void,
): Promise<Stack> {
  const config = await choosePort(given);
  openDataDirectory(config.dataDir);
  const context = openContext(config, stops.servers, report);
  const common = {
    ...process.env,
    // Only the subcommand that creates the administrator needs the password. It gets it through standard input.
    COORDINATOR_ADMIN_PASSWORD: undefined,
    COORDINATOR_ADMIN_PASSWORD_FILE: undefined,
    // DATABASE_URL is set below.
    DATABASE_URL_FILE: undefined,
    ...nativeMemory,
    // Each connection is a process of PostgreSQL with some MiB.
    COORDINATOR_DATABASE_POOL: process.env['COORDINATOR_DATABASE_POOL'] || '5',
    COORDINATOR_DATA_DIR: config.dataDir,
    // On a single machine, `start` continues without sandboxes, and says so.
    COORDINATOR_EXECUTOR_ISOLATION: process.env['COORDINATOR_EXECUTOR_ISOLATION'] || 'auto',
    COORDINATOR_PORT: String(config.port),
    COORDINATOR_ISSUER: config.issuer ?? loopbackOrigin(config) ?? undefined,
    // Compiling the code takes half of a process's start.
    NODE_COMPILE_CACHE: join(codeCachePath(config.dataDir), 'code'),
  };
  const settings = startServers(config, program, common, context);
  const services = startServices(config, program, { environment: common, settings }, stops, report);
  // The services reject as well if a server does not start, but it is the server's error that says why.
  const [found, ready] = await Promise.all([settings, services]);
  return {
    ...ready,
    environment: { ...common, ...found },
    broken: Promise.race([...context.broken, new Promise<never>(() => {})]),
  };
}

/** Starts the servers that the configuration does not name, and migrates the database. @returns the settings that lead to them */
async function startServers(
  config: StartConfig,
  program: string,
  environment: NodeJS.ProcessEnv,
  context: EmbeddedContext,
): Promise<Record<string, string>> {
  const migrated = async () => {
    const databaseUrl = config.databaseUrl ?? (await startEmbeddedPostgres(context));
    const migrating = { ...environment, DATABASE_URL: databaseUrl };
    await runSubcommand('Migrating the database', [program, 'migrate'], migrating);
    return { DATABASE_URL: databaseUrl, ...(await makePluginReader(config, program, migrating)) };
  };
  const [database, address] = await Promise.all([
    migrated(),
    config.temporal.address ?? startEmbeddedTemporal(context, config.temporal.namespace),
  ]);
  return { ...database, TEMPORAL_ADDRESS: address };
}

/**
 * Creates the database role with which workers read the tables of plugins, and returns its setting. Operators with their own database
 * create the role themselves.
 */
async function makePluginReader(
  { databaseUrl, pluginRoots: { schemas, databaseUrl: given } }: StartConfig,
  program: string,
  environment: NodeJS.ProcessEnv & { readonly DATABASE_URL: string },
): Promise<Record<string, string>> {
  if (databaseUrl !== null || given !== null || schemas.length === 0) return {};
  const { role, password, url } = choosePluginReader(environment.DATABASE_URL);
  const subcommand = [program, 'admin', 'plugin-reader', '--role', role];
  await runSubcommand('Making the role that reads the tables of plugins', subcommand, environment, password);
  return { COORDINATOR_PLUGIN_DATABASE_URL: url };
}

/**
 * Chooses a port if the configuration has 0. Otherwise, the API would know its port too late: the worker needs its address for the tokens
 * that it signs.
 */
async function choosePort(config: StartConfig): Promise<StartConfig> {
  return config.port === 0 && isLoopback(config) ? { ...config, port: await findFreePort(config.host) } : config;
}

function isLoopback({ host }: StartConfig): boolean {
  return host === '127.0.0.1' || host === '::1' || host === 'localhost';
}

/** The address of the API for programs on this machine; null if its settings do not say it. */
function loopbackOrigin(config: StartConfig): string | null {
  const { host, port } = config;
  return isLoopback(config) ? `http://${host === '::1' ? '[::1]' : host}:${port}` : null;
}

/** Gives the embedded servers an account and a directory for their sockets. */
function openContext(
  { dataDir, user }: StartConfig,
  servers: EmbeddedContext['servers'],
  report: EmbeddedContext['report'],
): EmbeddedContext {
  const account = findServiceAccount(dataDir, user);
  claimAccount(account);
  const sockets = openSocketDirectory(dataDir, account);
  return { dataDir, account, sockets, servers, broken: [], report };
}

/** Stops the service processes gracefully, and then the servers that they need. */
export async function stopStack(stops: Stops): Promise<void> {
  await Promise.all(stops.services.map((service) => service.stop()));
  await Promise.all(stops.servers.map((stop) => stop()));
}

async function startServices(
  config: StartConfig,
  program: string,
  given: Pick<SupervisedProgram, 'environment' | 'settings'>,
  stops: Stops,
  report: (line: string) => void,
): Promise<{ url: string; publicUrl: string; adminUrl: string }> {
  const create = (name: 'api' | 'worker', pin?: (ready: ReadyMessage) => NodeJS.ProcessEnv) => {
    const logFile = rotateLog(config.dataDir, name);
    const service = new Supervisor({
      name,
      arguments: [program, name],
      ...given,
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

/** Makes a restarted API listen on the ports of the first one, even if the system chose them. */
function pinPorts({ url = '', adminUrl = '' }: ReadyMessage): NodeJS.ProcessEnv {
  return { COORDINATOR_PORT: portOf(url), COORDINATOR_ADMIN_PORT: portOf(adminUrl) };
}

function portOf(url: string): string {
  return new URL(url).port || '80';
}

/** The context that the embedded servers share. */
type EmbeddedContext = {
  readonly dataDir: string;
  /** The account that they run as; null: this process's own user. */
  readonly account: Account | null;
  /** The directory of their sockets. */
  readonly sockets: string;
  /** Receives a function that stops each server. */
  readonly servers: (() => Promise<void>)[];
  /** Receives a promise for each server, which resolves with one sentence when the server ends unexpectedly. */
  readonly broken: Promise<string>[];
  readonly report: (line: string) => void;
};

/** Starts PostgreSQL on a socket. @returns the URL of the service's database @throws StartError */
async function startEmbeddedPostgres({
  dataDir,
  account,
  sockets,
  servers,
  broken,
  report,
}: EmbeddedContext): Promise<string> {
  const logFile = rotateLog(dataDir, 'postgres');
  const server = await startPostgres({ dataDir, account, sockets, logFile });
  servers.push(server.stop);
  broken.push(server.exited.then(() => `The embedded PostgreSQL ended unexpectedly: see ${logFile}, and start again.`));
  report('PostgreSQL is ready.');
  return server.url;
}

/** Starts Temporal, isolated from other users if the machine can do that. @returns its address @throws StartError */
async function startEmbeddedTemporal(context: EmbeddedContext, namespace: string): Promise<string> {
  const { dataDir, account, sockets, servers, broken, report } = context;
  const logFile = rotateLog(dataDir, 'temporal');
  const common = { directory: join(dataDir, 'temporal'), namespace, logFile, account };
  const reason = findIsolationProblem(account);
  if (reason !== null) report(`Every user of this machine can reach the Temporal server: ${reason}.`);
  const server = reason === null ? await startPrivateTemporal({ ...common, sockets }) : await startTemporal(common);
  servers.push(server.stop);
  broken.push(server.exited.then(() => `The Temporal server ended unexpectedly: see ${logFile}, and start again.`));
  report('Temporal is ready.');
  return server.address;
}
