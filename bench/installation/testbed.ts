import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '#local/postgres/postgres.ts';
import { migrate } from '#migrate';
import { logLinePrefix } from '../resources/statement-log.ts';
import { type Installation, openInstallation } from './installation.ts';
import { createNamespace, startTemporalCluster } from './temporal-cluster.ts';
import { findTofu } from './tofu.ts';

export interface InstallationOptions {
  /** Settings of the service for this benchmark. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The servers of a benchmark run: PostgreSQL, Temporal, and the installations of the service that benchmarks open. */
export interface Testbed {
  readonly directory: string;
  readonly databaseVersion: string;
  /** The file of PostgreSQL's log, whose lines begin with `logLinePrefix`. */
  readonly databaseLog: string;
  /** How many rounds measure each arm, after its warm-up. */
  readonly rounds: number;
  report(line: string): void;
  /** Creates a database with the service's schema. @returns its URL */
  createDatabase(name: string): Promise<string>;
  /** Opens a new installation: a database, a namespace, an administrator with an API key, and a running API. */
  open(name: string, options?: InstallationOptions): Promise<Installation>;
  /** Stops the servers. `keepFiles` keeps their directory, logs included, to examine a failure. */
  close(keepFiles: boolean): Promise<void>;
}

/** Enough for Temporal's four services and for a million rows. Durability is as in production. */
const postgresSettings = {
  max_connections: '400',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  log_line_prefix: logLinePrefix,
};

export async function openTestbed({ rounds, profiles }: { rounds: number; profiles: string | null }): Promise<Testbed> {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-bench-'));
  chmodSync(directory, 0o711);
  const databaseLog = join(directory, 'postgres.log');
  const postgres = await startPostgres({
    dataDir: directory,
    logFile: databaseLog,
    sockets: null,
    settings:
      profiles === null ? postgresSettings : { ...postgresSettings, shared_preload_libraries: 'pg_stat_statements' },
  });
  let temporal: Promise<Awaited<ReturnType<typeof startTemporalCluster>>> | undefined;
  const report = (line: string) => console.log(`  ${line}`);
  const createDatabase = async (name: string) => {
    await execute(postgres.url, `create database ${name}`);
    const url = urlOf(postgres.url, name);
    await migrate({ databaseUrl: url });
    return url;
  };
  return {
    directory,
    rounds,
    databaseLog,
    report,
    createDatabase,
    databaseVersion: await readVersion(postgres.url),
    open: async (name, { settings = {} } = {}) => {
      temporal ??= startTemporalCluster(postgres.url, join(directory, 'temporal'));
      const { address } = await temporal;
      const [databaseUrl] = await Promise.all([createDatabase(name), createNamespace(address, name)]);
      const dataDir = join(directory, name);
      mkdirSync(dataDir, { mode: 0o711 });
      const environment = { ...serviceEnvironment(databaseUrl, address, name, dataDir), ...settings };
      return openInstallation(environment, dataDir, profiles);
    },
    close: async (keepFiles) => {
      await temporal?.then((cluster) => cluster.stop()).catch(() => undefined);
      await postgres.stop();
      if (keepFiles) report(`the logs are in ${directory}`);
      else rmSync(directory, { recursive: true, force: true });
    },
  };
}

function serviceEnvironment(databaseUrl: string, temporal: string, namespace: string, dataDir: string) {
  const tofu = findTofu();
  const path = process.env['PATH'] ?? '';
  return {
    PATH: tofu === null ? path : `${dirname(tofu)}${delimiter}${path}`,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal,
    TEMPORAL_NAMESPACE: namespace,
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
    COORDINATOR_DATA_DIR: dataDir,
    COORDINATOR_SECRET_KEYS: `bench:${Buffer.alloc(32, 7).toString('base64')}`,
    LOG_LEVEL: 'warn',
    // One account sends all the load, which would exceed its limit.
    COORDINATOR_REQUESTS_PER_PRINCIPAL: '0',
  };
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function readVersion(url: string): Promise<string> {
  const [row] = await execute(url, 'show server_version');
  return String(row?.['server_version']);
}

async function execute(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query(statement);
    return rows;
  } finally {
    await client.end();
  }
}
