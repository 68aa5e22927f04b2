import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertPortFree } from '#local/ports.ts';
import { startPostgres } from '#local/postgres/postgres.ts';
import { startTemporal } from '#local/temporal.ts';
import { listProcesses } from '#test/support/programs/start.ts';

/** A server that the service needs. It can be killed and started again, with the same address and data. */
export interface Server {
  readonly address: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Suspends the process, so that it does not answer until `thaw`. */
  freeze(): void;
  thaw(): void;
}

/** Starts PostgreSQL with the durability of production. `address` is the URL of its database. */
export async function openPostgres(directory: string): Promise<Server> {
  const port = await findStablePort();
  const options = {
    dataDir: directory,
    logFile: join(directory, 'postgres.log'),
    sockets: null,
    port,
    // The time of a commit is what delays are measured from.
    settings: { max_connections: '200', shared_buffers: '64MB', track_commit_timestamp: 'on' },
  };
  let server = await startPostgres(options);
  const lockFile = join(directory, 'postgres', 'postmaster.pid');
  const findPid = () => (existsSync(lockFile) ? Number.parseInt(readFileSync(lockFile, 'utf8'), 10) : undefined);
  return {
    address: server.url,
    ...signals(findPid),
    kill: async () => {
      send(findPid(), 'SIGKILL');
      await server.exited;
    },
    start: async () => {
      server = await startPostgres(options);
    },
    stop: () => server.stop(),
  };
}

/** Starts a Temporal server that stores its workflows in a file. `address` is host:port. */
export async function openTemporal(directory: string): Promise<Server> {
  const port = await findStablePort();
  const file = join(directory, 'temporal');
  const options = { directory: file, namespace: 'default', logFile: join(directory, 'temporal.log'), port };
  let server = await startTemporal(options);
  const findPid = () =>
    listProcesses().find(({ command }) => command.includes(`--db-filename ${file}`) && !command.includes('watchdog'))
      ?.pid;
  return {
    address: server.address,
    ...signals(findPid),
    kill: async () => {
      send(findPid(), 'SIGKILL');
      await server.exited;
    },
    start: async () => {
      server = await startTemporal(options);
    },
    stop: () => server.stop(),
  };
}

function signals(findPid: () => number | undefined) {
  return { freeze: () => send(findPid(), 'SIGSTOP'), thaw: () => send(findPid(), 'SIGCONT') };
}

function send(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) throw new Error(`there is no server process to send ${signal} to`);
  process.kill(pid, signal);
}

/** Finds a free port below the system's ephemeral ports, so that it is still free when its server restarts. */
export async function findStablePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const isFree = await assertPortFree('127.0.0.1', port, 'port').then(
      () => true,
      () => false,
    );
    if (isFree) return port;
    await sleep(1);
  }
}
