import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, ConfigurationError, defaultToolsDirectory } from '#config';
import { Executor, type ExecutorOptions } from '#executors/client/executor.ts';
import { ExecutorUnavailable } from '#executors/client/host-process.ts';
import type { ExecutionLimits } from '#executors/protocol/request.ts';

const code = resolve(fileURLToPath(new URL('../..', import.meta.url)));
/** The maximum number of bytes that an attempt may print, and that its log keeps (docs/operating.md). */
const outputBytes = 1024 * 1024 * 1024;
const logBytes = 100 * 1024 * 1024;

/**
 * Starts the worker's executor host.
 * @throws ConfigurationError if a setting names an unusable path, or if template code must be sandboxed and cannot be
 */
export async function openExecutor(config: Config): Promise<Executor> {
  const problems = config.executor.paths.flatMap(problemOfPath);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return Executor.start(executorOptions(config)).catch((error: unknown) => {
    throw error instanceof ExecutorUnavailable ? new ConfigurationError([error.message]) : error;
  });
}

/** Directories of the machine that a sandbox cannot see, because it has its own in their places. */
const privateDirectories = ['/tmp', '/var/tmp', '/work', '/run', '/proc', '/dev', '/sys'];

function problemOfPath(path: string): string[] {
  const setting = `COORDINATOR_EXECUTOR_PATHS names ${path}`;
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [`${setting}, which is not a directory.`];
  const place = privateDirectories.find((own) => path === own || path.startsWith(`${own}/`));
  if (place === undefined) return [];
  return [`${setting}, but sandboxes have a ${place} of their own: choose a directory elsewhere, such as /opt.`];
}

function executorOptions(config: Config): ExecutorOptions {
  const { executor } = config;
  return {
    directory: join(config.dataDir, 'work'),
    isolation: executor.isolation,
    user: executor.user,
    reservedUid: readAccount(config.dataDir),
    cores: executor.cores,
    addedPaths: executor.paths,
    // The service's own data, its code, and its user's files.
    hiddenPaths: [config.dataDir, code, readHome()].filter((path) => path !== null).filter((path) => existsSync(path)),
    toolsDirectory: executor.toolsDirectory ?? defaultToolsDirectory(config.dataDir),
    providerMirror: executor.providerMirror,
    providerNetworkMirror: executor.providerNetworkMirror,
    providersDirect: executor.providersDirect,
    providerStoreBytes: executor.providerStoreBytes,
    deniedAddresses: [...ownAddresses(config), ...executor.denied],
  };
}

/** This user's home directory; null for a user that the system does not know, as in containers. */
function readHome(): string | null {
  try {
    return homedir();
  } catch {
    return null;
  }
}

/** The user id with which root runs the servers and the API; null if there is none. */
function readAccount(dataDir: string): number | null {
  const path = join(dataDir, 'account.json');
  if (!existsSync(path)) return null;
  const account: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const hasUid = typeof account === 'object' && account !== null && 'uid' in account;
  return hasUid && typeof account.uid === 'number' ? account.uid : null;
}

export function executionLimits({ executor }: Config): ExecutionLimits {
  const { memoryBytes, diskBytes, cpuSeconds, processes, openFiles } = executor;
  return { outputBytes, logBytes, directoryBytes: diskBytes, memoryBytes, cpuSeconds, processes, openFiles };
}

/** The hosts of the service's own servers. Servers on this machine are always denied, and a Unix socket has no host. */
function ownAddresses({ databaseUrl, temporal, host, adminHost, baseUrl }: Config): string[] {
  const databaseHost = new URL(databaseUrl).hostname;
  const names = [
    ...(databaseHost.startsWith('%2F') || databaseHost.startsWith('%2f') ? [] : [databaseHost]),
    temporal.address.replace(/:\d+$/, ''),
    ...[host, adminHost].filter((address) => address !== '0.0.0.0' && address !== '::'),
    ...(baseUrl === null ? [] : [new URL(baseUrl).hostname]),
  ];
  return [...new Set(names.map((name) => name.replace(/^\[|\]$/g, '')).filter((name) => name !== ''))];
}
