import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '#config';
import { Executor } from '#executors/client.ts';
import type { ExecutionLimits } from '#executors/protocol.ts';

const code = resolve(fileURLToPath(new URL('../..', import.meta.url)));
/** Bytes that an attempt may print, and those of them that its log keeps; docs/operating.md lists them. */
const outputBytes = 1024 * 1024 * 1024;
const logBytes = 100 * 1024 * 1024;

/** Starts the worker's executor host. @throws Error where template code must be contained and cannot be */
export function openExecutor(config: Config): Promise<Executor> {
  const { executor } = config;
  return Executor.start({
    directory: join(config.dataDir, 'work'),
    isolation: executor.isolation,
    user: executor.user,
    takenUid: readAccount(config.dataDir),
    cores: executor.cores,
    addedPaths: executor.paths,
    // Of the service itself: its data, its code, and its user's files.
    hiddenPaths: [config.dataDir, code, homedir()].filter((path) => existsSync(path)),
    providerMirror: executor.providerMirror,
    providerNetworkMirror: executor.providerNetworkMirror,
    providersDirect: executor.providersDirect,
    deniedAddresses: [...ownAddresses(config), ...executor.denied],
  });
}

/** The account that root chose for the servers and the API; null where there is none. */
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

/** Where the service's own parts are; what listens on this machine is denied anyhow, and a socket has no address. */
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
