import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from './errors.ts';
import { type Guarded, nativeEnvironment, spawnGuarded } from './guard.ts';
import { findFreePort } from './ports.ts';

export type EmbeddedTemporal = {
  /** host:port */
  readonly address: string;
  readonly exited: Promise<number>;
  readonly stop: () => Promise<void>;
};

type Options = {
  /** Where `temporal.db` is kept; null: in memory. */
  readonly directory: string | null;
  readonly namespace: string;
  readonly logFile: string;
  /** Where it listens; a free port where none is given. */
  readonly port?: number;
};

const databaseFile = 'temporal.db';

/** scripts/setup.js puts the server here; both must agree. */
const cachedProgram = join('delivery-coordinator', 'temporal-1.5.1', 'temporal');

/** The development server's program: `temporal` on PATH, or the one that set-up obtained. @throws StartError */
export function findTemporalProgram(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, 'temporal'));
  const found = [...onPath, join(cache, cachedProgram)].find(isExecutable);
  if (found !== undefined) return found;
  throw new StartError(
    'There is no Temporal server: run `npm start`, which obtains one, or give the address of your own in TEMPORAL_ADDRESS.',
  );
}

/** What ends a server at its start and passes: a predecessor that is still stopping, a port that was just taken. */
const maximumStarts = 6;
const pauseMs = 2_000;

/** Starts a Temporal development server on loopback and waits until it knows its namespace. @throws StartError */
export async function startTemporal(options: Options): Promise<EmbeddedTemporal> {
  const { directory, namespace, logFile } = options;
  const program = findTemporalProgram();
  const isNew = directory !== null && !existsSync(join(directory, databaseFile));
  if (directory !== null) mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (let starts = 1; ; starts += 1) {
    const [port, httpPort] = [options.port ?? (await findFreePort()), await findFreePort()];
    const server = await spawnServer(program, port, httpPort, options);
    if (await isReady(server, `http://127.0.0.1:${httpPort}/api/v1/namespaces/${namespace}`, logFile)) {
      if (isNew) keepHistories(program, `127.0.0.1:${port}`, namespace, environmentOf(logFile));
      return { address: `127.0.0.1:${port}`, exited: server.exited, stop: server.stop };
    }
    if (starts >= maximumStarts) throw new StartError(`The Temporal server ended at its start; ${logFile} says why.`);
    await delay(pauseMs);
  }
}

function spawnServer(
  program: string,
  port: number,
  httpPort: number,
  { directory, namespace, logFile }: Options,
): Promise<Guarded> {
  return spawnGuarded({
    command: program,
    arguments: [
      ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1'],
      ...['--port', String(port), '--http-port', String(httpPort), '--namespace', namespace, '--log-level', 'error'],
      ...(directory === null ? [] : ['--db-filename', join(directory, databaseFile)]),
    ],
    logFile,
    stopSignal: 'TERM',
    graceSeconds: 10,
    // Half of Go's default heap growth: the server idles in less memory, at a little more work.
    environment: { ...environmentOf(logFile), GOGC: '50' },
  });
}

/** The program reads its user's configuration, which is not meant for this server: it finds none beside the log. */
function environmentOf(logFile: string): NodeJS.ProcessEnv {
  return { ...nativeEnvironment(), HOME: dirname(logFile) };
}

/** Besides the start, and for good: the histories of finished workflows are there for a week's questions. */
function keepHistories(program: string, address: string, namespace: string, env: NodeJS.ProcessEnv): void {
  const update = ['operator', 'namespace', 'update', '--retention', '7d', '--namespace', namespace];
  execFile(program, [...update, '--address', address], { env, timeout: 30_000 }, (error) => {
    if (error !== null) console.error(`Temporal keeps finished workflows for its default time only: ${error.message}`);
  });
}

/** Resolves with whether the server got ready, or ended before. @throws StartError where it does neither in time */
async function isReady(server: Guarded, url: string, logFile: string): Promise<boolean> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    if (server.hasExited()) return false;
    if (await answers(url)) return true;
    await delay(50);
  }
  await server.stop();
  throw new StartError(`The Temporal server did not get ready within a minute; ${logFile} says why.`);
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    // Not listening yet.
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}
