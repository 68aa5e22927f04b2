import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from './errors.ts';
import { type Guarded, nativeEnvironment, spawnGuarded } from './guard.ts';
import { findFreePort } from './ports.ts';
import { stopForgottenPostgres } from './postgres-leftovers.ts';
import { findPostgresPrograms, giveToPostgres, type PostgresPrograms } from './postgres-programs.ts';

export type EmbeddedPostgres = {
  /** URL of the service's database, with the password. */
  readonly url: string;
  readonly exited: Promise<number>;
  /** Fast shutdown: sessions are ended, everything is written. */
  readonly stop: () => Promise<void>;
};

type Options = {
  /** Everything lies below: `postgres/` (the cluster), `postgres-password`. */
  readonly dataDir: string;
  readonly logFile: string;
  /** For throw-away clusters: trades durability for speed. */
  readonly isDurable?: boolean;
  /** Where it listens; a free port where none is given. */
  readonly port?: number;
  /** Server settings of its own, over the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
};

const user = 'coordinator';
const database = 'coordinator';

/** Sized for one machine with little memory; reachable over loopback with a password only. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '32MB',
  max_wal_size: '512MB',
  io_method: 'sync',
  jit: 'off',
  max_worker_processes: '2',
  max_logical_replication_workers: '0',
  log_min_messages: 'warning',
};
const throwAwaySettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

/**
 * Starts PostgreSQL on the data directory, making the cluster and its database at first. What a killed predecessor left
 * (a server, a stale lock file, unfinished transactions) is cleared up; the caller holds the data directory's lock.
 * @throws StartError
 */
export async function startPostgres(options: Options): Promise<EmbeddedPostgres> {
  const cluster = join(options.dataDir, 'postgres');
  const programs = await findPostgresPrograms(cluster);
  const password = readPassword(join(options.dataDir, 'postgres-password'));
  if (existsSync(cluster)) await stopForgottenPostgres(cluster);
  else createCluster(programs, cluster, password, options.isDurable ?? true);
  const port = options.port ?? (await findFreePort());
  const server = await spawnGuarded({
    ...command(programs, programs.postgres, ['-D', cluster, ...serverFlags(port, options)]),
    logFile: options.logFile,
    stopSignal: 'INT',
    graceSeconds: 20,
  });
  await waitUntilReady(server, cluster, options.logFile);
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${port}/${database}`,
    exited: server.exited,
    stop: server.stop,
  };
}

/** The major version of the cluster in a data directory; null without one. */
export function readClusterVersion(dataDir: string): number | null {
  const path = join(dataDir, 'postgres', 'PG_VERSION');
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) : null;
}

function readPassword(path: string): string {
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString('hex'), { mode: 0o600, flag: 'wx' });
  return readFileSync(path, 'utf8').trim();
}

/** Made beside its final place and renamed, so that a set-up which was interrupted leaves nothing half-made. */
function createCluster(programs: PostgresPrograms, cluster: string, password: string, isDurable: boolean): void {
  const draft = `${cluster}.draft`;
  const passwordFile = `${cluster}.password`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  giveToPostgres(programs, draft);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  giveToPostgres(programs, passwordFile);
  try {
    run(programs, programs.initdb, [
      `--pgdata=${draft}`,
      `--username=${user}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(isDurable ? [] : ['--no-sync']),
    ]);
    run(programs, programs.postgres, ['--single', '-D', draft, 'postgres'], `CREATE DATABASE ${database}\n`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, cluster);
}

function run(programs: PostgresPrograms, program: string, given: readonly string[], input = ''): void {
  const { command: file, arguments: all, user: owner, environment } = command(programs, program, given);
  const result = spawnSync(file, all, { ...owner, cwd: '/', env: environment, input, encoding: 'utf8' });
  if (result.status === 0) return;
  const reason = (result.stderr || result.error?.message || '').trim().split('\n').at(-1);
  throw new StartError(`The embedded PostgreSQL could not be set up: ${reason}.`);
}

function command({ prefix, user: owner }: PostgresPrograms, program: string, given: readonly string[]) {
  const [file = program, ...rest] = [...prefix, program, ...given];
  const environment = nativeEnvironment();
  return { command: file, arguments: rest, environment, ...(owner !== null && prefix.length === 0 && { user: owner }) };
}

function serverFlags(port: number, { isDurable = true, settings: own }: Options): string[] {
  const all = { ...settings, ...(isDurable ? {} : throwAwaySettings), ...own };
  return ['-p', String(port), ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** The lock file's eighth line says when the server takes connections, recovery after a crash included. */
async function waitUntilReady(server: Guarded, cluster: string, logFile: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline) {
    if (server.hasExited()) throw new StartError(`The embedded PostgreSQL ended at its start; ${logFile} says why.`);
    const status = existsSync(lockFile) ? readFileSync(lockFile, 'utf8').split('\n')[7]?.trim() : undefined;
    if (status === 'ready') return;
    await delay(25);
  }
  await server.stop();
  throw new StartError(`The embedded PostgreSQL did not get ready within two minutes; ${logFile} says why.`);
}
