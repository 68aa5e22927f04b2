import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './account/account.ts';
import { giveDirectory } from './account/ownership.ts';
import { runAs } from './account/run-as.ts';
import { keepHistories, knowsNamespace, type OpenConnection } from './engine/namespace-call.ts';
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
  /** Who it runs as; without it, this process's own user. */
  readonly account?: Account | null;
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
/** The histories of finished workflows are there for a week's questions. */
const keptSeconds = 7 * 86_400;

/**
 * Starts a Temporal development server on loopback and waits until it knows its namespace. It serves every user of this
 * machine: `startPrivateTemporal` keeps it from them where the machine can.
 * @throws StartError
 */
export async function startTemporal(options: Options): Promise<EmbeddedTemporal> {
  const { directory, namespace, logFile, account = null } = options;
  const program = findTemporalProgram();
  const isNew = directory !== null && !hasWorkflows(directory);
  if (directory !== null) mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (directory !== null && account !== null) giveDirectory(directory, account);
  const rights = runAs(account, [program, ...(directory === null ? [] : [join(directory, databaseFile)])]);
  let port = 0;
  const open = () => connect({ host: '127.0.0.1', port });
  const server = await untilStarted({ open, namespace, logFile }, async () => {
    port = options.port ?? (await findFreePort());
    return spawnGuarded({
      command: program,
      arguments: serverArguments({ grpc: port, http: await findFreePort(), directory, namespace }),
      ...rights,
      logFile,
      stopSignal: 'TERM',
      graceSeconds: 10,
      environment: serverEnvironment(logFile),
    });
  });
  if (isNew) keepLongEnough(open, namespace);
  return { address: `127.0.0.1:${port}`, exited: server.exited, stop: server.stop };
}

/** Whether a server has kept its workflows in this directory before. */
export function hasWorkflows(directory: string): boolean {
  return existsSync(join(directory, databaseFile));
}

type Serving = {
  readonly grpc: number;
  readonly http: number;
  readonly directory: string | null;
  readonly namespace: string;
};

export function serverArguments({ grpc, http, directory, namespace }: Serving): string[] {
  return [
    'server',
    'start-dev',
    '--headless',
    '--ip',
    '127.0.0.1',
    '--port',
    String(grpc),
    '--http-port',
    String(http),
    '--namespace',
    namespace,
    '--log-level',
    'error',
    ...(directory === null ? [] : ['--db-filename', join(directory, databaseFile)]),
  ];
}

/**
 * The program reads its user's configuration, which is not meant for this server: it finds none beside the log. It
 * asks for a user's name, and its account may have none. Half of Go's default heap growth lets it idle in less memory, at
 * a little more work.
 */
export function serverEnvironment(logFile: string): NodeJS.ProcessEnv {
  return { ...nativeEnvironment(), HOME: dirname(logFile), USER: 'coordinator', GOGC: '50' };
}

type Starting = { readonly open: OpenConnection; readonly namespace: string; readonly logFile: string };

/** Starts a server until one is ready; one that ends at once is started again. @throws StartError */
export async function untilStarted(starting: Starting, start: () => Promise<Guarded>): Promise<Guarded> {
  for (let starts = 1; ; starts += 1) {
    const server = await start();
    if (await isReady(server, starting)) return server;
    if (starts >= maximumStarts) {
      throw new StartError(`The Temporal server ended at its start; ${starting.logFile} says why.`);
    }
    await delay(pauseMs);
  }
}

/** Besides the start, and for good. */
export function keepLongEnough(open: OpenConnection, namespace: string): void {
  void keepHistories(open, namespace, keptSeconds).then((isKept) => {
    if (!isKept) console.error('Temporal keeps finished workflows for its default time only.');
  });
}

/** Resolves with whether the server got ready, or ended before. @throws StartError where it does neither in time */
async function isReady(server: Guarded, { open, namespace, logFile }: Starting): Promise<boolean> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    if (server.hasExited()) return false;
    if (await knowsNamespace(open, namespace)) return true;
    await delay(50);
  }
  await server.stop();
  throw new StartError(`The Temporal server did not get ready within a minute; ${logFile} says why.`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}
