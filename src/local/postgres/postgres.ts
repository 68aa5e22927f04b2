import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Account, findServiceAccount } from '../account/account.ts';
import { chownTree } from '../account/chown.ts';
import { StartError } from '../errors.ts';
import { startWithinMs } from '../lifetime.ts';
import { type NativeProcess, nativeEnvironment, startNativeProcess } from '../native-process.ts';
import { findFreePort } from '../ports.ts';
import { createWhole } from '../whole-file.ts';
import { embeddedDatabase, embeddedDatabaseUrl, passwordPath, socketPort } from './address.ts';
import { stopOrphanedPostgres } from './orphan.ts';
import { findPostgresPrograms, findSetupRights, type PostgresPrograms, type SetupRights } from './programs.ts';

export type EmbeddedPostgres = {
  /** URL of the service's database, with the password. */
  readonly url: string;
  readonly exited: Promise<number>;
  /** Shuts down fast: it ends sessions and writes everything to disk. */
  readonly stop: () => Promise<void>;
};

type Options = {
  /** Holds `postgres/` (the cluster) and `postgres-password`. */
  readonly dataDir: string;
  readonly logFile: string;
  /** False for temporary clusters: trades durability for speed. */
  readonly isDurable?: boolean;
  /** The account that it runs as. Default: the one that root chooses for the data directory. */
  readonly account?: Account | null;
  /** The directory of its socket, which only the account may enter; null: it listens on loopback. */
  readonly sockets: string | null;
  /** The port on loopback. Default: a free one. */
  readonly port?: number;
  /** Server settings that override the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
};

const { user, database } = embeddedDatabase;

/** For a machine with little memory. */
const settings = {
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
 * Starts PostgreSQL on the data directory. The first start creates the cluster and its database. Cleans up what a killed
 * `start` left behind: a server, a stale lock file, unfinished transactions. The caller must hold the data directory's lock.
 * @throws StartError
 */
export async function startPostgres(options: Options): Promise<EmbeddedPostgres> {
  const { dataDir, sockets, logFile } = options;
  const cluster = join(dataDir, 'postgres');
  const account = options.account === undefined ? findServiceAccount(dataDir, null) : options.account;
  const programs = await findPostgresPrograms(cluster, account);
  const password = readPassword(passwordPath(dataDir));
  if (existsSync(cluster)) await stopOrphanedPostgres(cluster);
  else createCluster(programs, cluster, password, account, options.isDurable ?? true);
  if (account !== null) chownTree(cluster, account);
  const port = sockets === null ? (options.port ?? (await findFreePort())) : socketPort;
  const server = await startNativeProcess({
    command: programs.postgres,
    arguments: ['-D', cluster, ...serverFlags(port, options)],
    logFile,
    ...programs.server,
    stopSignal: 'INT',
    graceSeconds: 20,
  });
  await waitUntilReady(server, cluster, logFile);
  return {
    url: embeddedDatabaseUrl(sockets ?? '127.0.0.1', port, password),
    exited: server.exited,
    stop: server.stop,
  };
}

/** The major version of the cluster in a data directory; null if there is none. */
export function readClusterVersion(dataDir: string): number | null {
  const path = join(dataDir, 'postgres', 'PG_VERSION');
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) : null;
}

function readPassword(path: string): string {
  if (!existsSync(path)) createWhole(path, randomBytes(24).toString('hex'), 0o600);
  return readFileSync(path, 'utf8').trim();
}

/** Creates the cluster under a draft name and renames it, so that an interrupted set-up leaves no incomplete cluster. */
function createCluster(
  programs: PostgresPrograms,
  cluster: string,
  password: string,
  account: Account | null,
  isDurable: boolean,
): void {
  const draft = `${cluster}.draft`;
  const passwordFile = `${cluster}.password`;
  const rights = findSetupRights(programs, cluster, account);
  rmSync(draft, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600, flag: 'wx' });
  for (const path of [draft, passwordFile]) {
    if (rights.account !== null) chownSync(path, rights.account.uid, rights.account.gid);
  }
  try {
    run(rights, programs.initdb, [
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
    run(rights, programs.postgres, ['--single', '-D', draft, 'postgres'], `CREATE DATABASE ${database}\n`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  if (account !== null) chownTree(draft, account);
  renameSync(draft, cluster);
}

function run({ prefix, user: owner }: SetupRights, program: string, given: readonly string[], input = ''): void {
  const [file = program, ...rest] = [...prefix, program, ...given];
  const result = spawnSync(file, rest, { ...owner, cwd: '/', env: nativeEnvironment(), input, encoding: 'utf8' });
  if (result.status === 0) return;
  const reason = (result.stderr || result.error?.message || '').trim().split('\n').at(-1);
  throw new StartError(`The embedded PostgreSQL could not be set up: ${reason}.`);
}

function serverFlags(port: number, { isDurable = true, sockets, settings: own }: Options): string[] {
  const reach = {
    listen_addresses: sockets === null ? '127.0.0.1' : '',
    // The value is a list. The quotes protect commas and spaces in the path.
    unix_socket_directories: sockets === null ? '' : `"${sockets.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
  };
  const all = { ...settings, ...reach, ...(isDurable ? {} : throwAwaySettings), ...own };
  return ['-p', String(port), ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Waits until the eighth line of the lock file says that the server accepts connections, after a crash recovery as well. */
async function waitUntilReady(server: NativeProcess, cluster: string, logFile: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  const deadline = Date.now() + startWithinMs;
  while (Date.now() < deadline) {
    if (server.hasExited()) throw new StartError(`The embedded PostgreSQL ended while starting; see ${logFile}.`);
    const status = existsSync(lockFile) ? readFileSync(lockFile, 'utf8').split('\n')[7]?.trim() : undefined;
    if (status === 'ready') return;
    await delay(25);
  }
  await server.stop();
  throw new StartError(`The embedded PostgreSQL was not ready after ten minutes; see ${logFile}.`);
}
