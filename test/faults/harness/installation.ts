import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Connection, Client as Engine } from '@temporalio/client';
import pg from 'pg';
import { loadConfig } from '#config';
import { createFirstAdministrator } from '#domain/identity/bootstrap.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { migrate } from '#migrate';
import { withDatabase } from '#open-database';
import { Caller } from '#test/support/api/caller.ts';
import { findTofu } from '../../../bench/installation/tofu.ts';
import { Client } from './client.ts';
import { findStablePort, openPostgres, openTemporal, type Server } from './servers.ts';
import { ServiceProcess } from './service-process.ts';

const administrator = { email: 'root@example.com', name: 'Administrator', password: 'correct horse battery' };

/** The whole service as in production, on one machine. Every part is a process that can be killed. */
export interface Installation {
  readonly directory: string;
  /** The data directory that the workers share. */
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly postgres: Server;
  readonly temporal: Server;
  readonly apis: readonly ServiceProcess[];
  /** The URLs of the APIs. */
  readonly urls: readonly string[];
  readonly workers: readonly ServiceProcess[];
  /** Admits runs. */
  readonly requester: Client;
  /** Another user, who may approve them. */
  readonly approver: Client;
  /** Queries the database directly. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Calls Temporal directly. */
  askEngine<Value>(ask: (engine: Engine) => Promise<Value>): Promise<Value>;
  /** What went wrong that no disruption explains. */
  readonly violations: string[];
  close(keepFiles: boolean): Promise<void>;
}

type Settings = Readonly<Record<string, string>>;

export interface InstallationOptions {
  /** Settings of the service, beside those of every installation; a function makes them from the address of its database. */
  readonly settings?: Settings | ((databaseUrl: string) => Promise<Settings>);
  /** How many APIs and how many workers it has. Default: two of each. */
  readonly processes?: number;
  /** The directory of bundled workflows and compiled code that its workers share with others. Default: one of its own. */
  readonly cache?: string | undefined;
}

export async function openInstallation({
  settings = {},
  processes = 2,
  cache,
}: InstallationOptions = {}): Promise<Installation> {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-faults-'));
  chmodSync(directory, 0o711);
  const dataDir = join(directory, 'data');
  mkdirSync(dataDir, { mode: 0o711 });
  if (cache !== undefined) symlinkSync(cache, join(dataDir, 'cache'));
  const [postgres, temporal] = await Promise.all([openPostgres(directory), openTemporal(directory)]);
  const added = typeof settings === 'function' ? await settings(postgres.address) : settings;
  const environment = { ...serviceEnvironment(postgres.address, temporal.address, dataDir), ...added };
  await prepareDatabase(environment);
  const violations: string[] = [];
  const numbers = [...Array(processes).keys()];
  const apis = await Promise.all(numbers.map((number) => createApi(number, environment, directory, violations)));
  const workers = numbers.map((number) => createWorker(number, environment, directory, violations));
  await Promise.all([...apis.map(({ process }) => process), ...workers].map((each) => each.start()));
  const urls = apis.map(({ url }) => url);
  const [requester, approver] = await createUsers(urls, (what) => violations.push(what));
  return {
    directory,
    dataDir,
    environment,
    postgres,
    temporal,
    workers,
    requester,
    approver,
    violations,
    urls,
    apis: apis.map(({ process }) => process),
    query: (sql, values) => queryOnce(postgres.address, sql, values),
    askEngine: (ask) => askOnce(temporal.address, ask),
    close: async (keepFiles) => {
      await Promise.all([...workers, ...apis.map(({ process }) => process)].map((each) => each.kill()));
      await Promise.all([postgres.stop(), temporal.stop()]);
      if (!keepFiles) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Migrates the database and creates the first administrator, as the commands do. */
async function prepareDatabase(environment: Settings): Promise<void> {
  const config = loadConfig(environment);
  await migrate(config);
  await withDatabase(config, (orm) =>
    createFirstAdministrator({ orm, keyRing: new KeyRing(config.secretKeys) }, administrator),
  );
}

function serviceEnvironment(databaseUrl: string, temporal: string, dataDir: string): Record<string, string> {
  const tofu = findTofu();
  const path = process.env['PATH'] ?? '';
  return {
    PATH: tofu === null ? path : `${dirname(tofu)}${delimiter}${path}`,
    ...(process.env['TMPDIR'] && { TMPDIR: process.env['TMPDIR'] }),
    ...(process.env['NODE_COMPILE_CACHE'] && { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }),
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal,
    COORDINATOR_DATA_DIR: dataDir,
    COORDINATOR_SECRET_KEYS: `violations:${randomBytes(32).toString('base64')}`,
    COORDINATOR_ADMIN_PORT: '0',
    WORKER_DRAIN_SECONDS: '2',
    LOG_LEVEL: 'info',
  };
}

async function createApi(number: number, environment: Record<string, string>, directory: string, violations: string[]) {
  const port = await findStablePort();
  const process = createProcess(
    `api-${number}`,
    'api',
    { ...environment, COORDINATOR_PORT: String(port) },
    directory,
    violations,
  );
  return { url: `http://127.0.0.1:${port}`, process };
}

function createWorker(number: number, environment: Record<string, string>, directory: string, violations: string[]) {
  return createProcess(`worker-${number}`, 'worker', environment, directory, violations);
}

function createProcess(
  name: string,
  command: 'api' | 'worker',
  environment: Record<string, string>,
  directory: string,
  violations: string[],
): ServiceProcess {
  return new ServiceProcess({
    name,
    command,
    environment,
    logFile: join(directory, `${name}.log`),
    onUnexpectedEnd: (who, how) => violations.push(`${who} ended unexpectedly: ${how}`),
  });
}

async function createUsers(urls: readonly string[], onViolation: (what: string) => void): Promise<[Client, Client]> {
  const [url = ''] = urls;
  const { email, password } = administrator;
  const root = await Caller.signIn(url, email, password);
  const approver = { email: 'approver@example.com', name: 'Approver', password, role: 'admin' };
  const made = await root.post('/users', approver);
  if (made.status !== 201) throw new Error(`the approver could not be created: ${made.text}`);
  const clients = [root, await Caller.signIn(url, approver.email, password)].map(async (caller) => {
    const { body } = await caller.post('/profile/api-keys', { name: 'faults' });
    return new Client(urls, body.key, onViolation);
  });
  return Promise.all(clients) as Promise<[Client, Client]>;
}

/** Opens a connection for each query, since the server may have been restarted. */
async function queryOnce<Row extends pg.QueryResultRow>(url: string, sql: string, values?: unknown[]): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined); // the query fails as well, and reports the error
  await client.connect();
  try {
    const { rows } = await client.query<Row>(sql, values);
    return rows;
  } finally {
    await client.end().catch(() => undefined); // the server may be gone
  }
}

async function askOnce<Value>(address: string, ask: (engine: Engine) => Promise<Value>): Promise<Value> {
  const connection = await Connection.connect({ address });
  try {
    return await ask(new Engine({ connection }));
  } finally {
    await connection.close();
  }
}
