import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { settingsFollow } from '#local/following-settings.ts';
import { startPostgres } from '#local/postgres/postgres.ts';
import { startTemporal } from '#local/temporal.ts';
import { root } from './local-start.ts';
import { readOwnMemory } from './own-memory.ts';
import { listTree } from './processes.ts';
import { findServer } from './service-cpu.ts';

const settleMs = 10_000;
/** An API and a worker each hear signals by one connection and work with at least one. */
const connections = 4;
const build = join(root, 'build/current');
/** Without room for garbage. */
const tight = ['--optimize-for-size', '--max-semi-space-size=1'];

/** What each part of a local start needs at least, in MiB: the bare servers, and processes that have loaded their code and do nothing. */
export async function measureFloors(directory: string): Promise<Record<string, number>> {
  mkdirSync(directory, { recursive: true });
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const database = await startBareDatabase(directory, stops);
    const temporal = await startTemporal({ directory: null, namespace: 'bare', logFile: join(directory, 'bare.log') });
    stops.push(temporal.stop);
    const waiting = { ...process.env, ...settingsFollow };
    const processes = {
      API: run([...tight, join(build, 'main.js'), 'api'], waiting),
      worker: run([...tight, join(build, 'main.js'), 'worker'], waiting),
      'executor host': run([...tight, join(build, 'executor-host.js')], process.env),
      '`start` itself': run([...tight, '--eval', 'setInterval(() => {}, 60_000)'], process.env),
    };
    stops.push(...Object.values(processes).map((child) => () => end(child)));
    await sleep(settleMs);
    const own = Object.entries(processes).map(([name, { pid = 0 }]) => [name, [pid]] as const);
    return readOwnMemory({
      ...Object.fromEntries(own),
      'PostgreSQL, all processes': listTree(database),
      'Temporal development server': [findServer(/^\S*temporal server start-dev .*--namespace bare/)],
    });
  } finally {
    await Promise.all(stops.map((stop) => stop()));
  }
}

/** @returns the process id of the server, which has some connections that have done one query */
async function startBareDatabase(directory: string, stops: (() => Promise<unknown>)[]): Promise<number> {
  const dataDir = join(directory, 'bare');
  mkdirSync(dataDir, { mode: 0o711 });
  const server = await startPostgres({ dataDir, logFile: join(dataDir, 'log'), sockets: null });
  const clients = Array.from({ length: connections }, () => new pg.Client(server.url));
  stops.push(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await server.stop();
  });
  for (const client of clients) await client.connect().then(() => client.query('select 1'));
  return findServer(new RegExp(`^\\S*postgres -D ${dataDir}`));
}

function run(given: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  // The fourth descriptor is the pipe of an executor host, and otherwise that of messages.
  const stdio = given.some((each) => each.endsWith('executor-host.js')) ? 'pipe' : 'ipc';
  return spawn(process.execPath, given, { env, stdio: ['ignore', 'ignore', 'inherit', stdio] });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error('a process for a floor has ended');
  child.kill('SIGKILL');
  await once(child, 'exit');
}
