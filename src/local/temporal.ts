import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './account/account.ts';
import { chownTree } from './account/chown.ts';
import { runAs } from './account/run-as.ts';
import { hasNamespace, type OpenConnection, setRetention } from './engine/namespace-client.ts';
import { StartError } from './errors.ts';
import { startWithinMs } from './lifetime.ts';
import { type NativeProcess, nativeEnvironment, startNativeProcess } from './native-process.ts';
import { findFreePort } from './ports.ts';

export type EmbeddedTemporal = {
  /** host:port */
  readonly address: string;
  readonly exited: Promise<number>;
  readonly stop: () => Promise<void>;
};

type Options = {
  /** The directory of `temporal.db`; null: the server keeps its data in memory. */
  readonly directory: string | null;
  readonly namespace: string;
  readonly logFile: string;
  /** The port that it listens on. Default: a free one. */
  readonly port?: number;
  /** The account that it runs as. Default: this process's own user. */
  readonly account?: Account | null;
};

const databaseFile = 'temporal.db';

/** scripts/setup.js installs the server here. Change both together. */
const cachedProgram = join('delivery-coordinator', 'temporal-1.5.1', 'temporal');

/** Finds the development server's program: `temporal` on PATH, or the one that set-up installed. @throws StartError */
export function findTemporalProgram(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, 'temporal'));
  const found = [...onPath, join(cache, cachedProgram)].find(isExecutable);
  if (found !== undefined) return found;
  throw new StartError(
    'No Temporal server was found: run `npm start`, which installs one, or set TEMPORAL_ADDRESS to the address of your own.',
  );
}

/**
 * How often the server is started. Some causes of a failure are temporary: an earlier server is still stopping, or another program has just
 * taken the port.
 */
const maxStarts = 6;
const pauseMs = 2_000;
/** The histories of finished workflows are kept for a week. */
const retentionSeconds = 7 * 86_400;

/**
 * Starts a Temporal development server on loopback and waits until it has its namespace. Every user of this machine can
 * reach it. Where the machine supports it, `startPrivateTemporal` prevents that.
 * @throws StartError
 */
export async function startTemporal(options: Options): Promise<EmbeddedTemporal> {
  const { directory, namespace, logFile, account = null } = options;
  const program = findTemporalProgram();
  const isNew = directory !== null && !hasWorkflows(directory);
  if (directory !== null) mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (directory !== null && account !== null) chownTree(directory, account);
  const rights = runAs(account, [program, ...(directory === null ? [] : [join(directory, databaseFile)])]);
  let port = 0;
  const open = () => connect({ host: '127.0.0.1', port });
  const server = await startWithRetries({ open, namespace, logFile }, async () => {
    port = options.port ?? (await findFreePort());
    return startNativeProcess({
      command: program,
      arguments: serverArguments({ grpc: port, http: await findFreePort(), directory, namespace }),
      ...rights,
      logFile,
      stopSignal: 'TERM',
      graceSeconds: 10,
      environment: serverEnvironment(logFile),
    });
  });
  if (isNew) extendRetention(open, namespace);
  return { address: `127.0.0.1:${port}`, exited: server.exited, stop: server.stop };
}

/** Whether a server has stored workflows in this directory. */
export function hasWorkflows(directory: string): boolean {
  return existsSync(join(directory, databaseFile));
}

type Serving = {
  readonly grpc: number;
  readonly http: number;
  readonly directory: string | null;
  readonly namespace: string;
};

/** Partitions of a queue share much work among machines. On one machine, they only cost memory and time at the start. */
const onePartition = ['Read', 'Write'].flatMap((kind) => [
  '--dynamic-config-value',
  `matching.numTaskqueue${kind}Partitions=1`,
]);

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
    ...onePartition,
    ...(directory === null ? [] : ['--db-filename', join(directory, databaseFile)]),
  ];
}

/**
 * The environment of the server. HOME is the log's directory, so that the program does not read its user's configuration. USER is set
 * because the program needs a user name, which its account may lack. GOGC is half of Go's default, which saves memory at the cost of a
 * little processor time.
 */
export function serverEnvironment(logFile: string): NodeJS.ProcessEnv {
  return { ...nativeEnvironment(), HOME: dirname(logFile), USER: 'coordinator', GOGC: '50' };
}

type Starting = { readonly open: OpenConnection; readonly namespace: string; readonly logFile: string };

/** Starts the server, and starts it again if it ends before it is ready. @throws StartError after several attempts */
export async function startWithRetries(
  starting: Starting,
  start: () => Promise<NativeProcess>,
): Promise<NativeProcess> {
  for (let starts = 1; ; starts += 1) {
    const server = await start();
    if (await isReady(server, starting)) return server;
    if (starts >= maxStarts) {
      throw new StartError(`The Temporal server ended while starting; see ${starting.logFile}.`);
    }
    await delay(pauseMs);
  }
}

/** Sets the retention of the namespace in the background, once for all later starts. */
export function extendRetention(open: OpenConnection, namespace: string): void {
  void setRetention(open, namespace, retentionSeconds).then((isSet) => {
    if (!isSet)
      console.error(
        'Could not set the retention of the Temporal namespace: finished workflows are kept for the default time only.',
      );
  });
}

/** @returns whether the server became ready; false: it ended before @throws StartError if it does neither in time */
async function isReady(server: NativeProcess, { open, namespace, logFile }: Starting): Promise<boolean> {
  const deadline = Date.now() + startWithinMs;
  while (Date.now() < deadline) {
    if (server.hasExited()) return false;
    if (await hasNamespace(open, namespace)) return true;
    await delay(50);
  }
  await server.stop();
  throw new StartError(`The Temporal server was not ready after ten minutes; see ${logFile}.`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}
