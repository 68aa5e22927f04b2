import { loadStartConfig, readDataDir, type StartConfig } from '#config';
import {
  checkVersions,
  ensureSecretKeys,
  openDataDirectory,
  removeServiceFile,
  writeServiceFile,
} from './data-directory.ts';
import { lockDataDirectory } from './data-lock.ts';
import { type StopReason, waitForStop } from './lifetime.ts';
import { assertPortFree } from './ports.ts';
import { removeSocketDirectory } from './postgres/socket-directory.ts';
import { greet } from './sample/first-start.ts';
import { startStack, stopStack } from './stack.ts';
import type { Supervisor } from './supervisor.ts';

/** `because`: why the process was asked to end, or a sentence on what broke. */
type Ending = { readonly code: number; readonly because: string };

/**
 * The embedded default: everything in one process tree, until it is asked to end. Nothing it started outlives it.
 * @returns the exit code
 * @throws StartError in one sentence when it cannot start
 */
export async function start(program: string): Promise<number> {
  const stop = waitForStop();
  const dataDir = readDataDir();
  openDataDirectory(dataDir);
  const unlock = await lockDataDirectory(dataDir);
  try {
    checkVersions(dataDir);
    ensureSecretKeys(dataDir, process.env);
    removeServiceFile(dataDir);
    return await run(loadStartConfig(), program, stop);
  } finally {
    removeSocketDirectory(dataDir);
    await unlock();
  }
}

async function run(config: StartConfig, program: string, stop: Promise<StopReason>): Promise<number> {
  await assertPortFree(config.host, config.port, 'COORDINATOR_PORT');
  await assertPortFree(config.adminHost, config.adminPort, 'COORDINATOR_ADMIN_PORT');
  const stops: { services: Supervisor[]; servers: (() => Promise<void>)[] } = { services: [], servers: [] };
  const startedAt = performance.now();
  const report = (line: string) => console.log(`[${((performance.now() - startedAt) / 1000).toFixed(1)} s] ${line}`);
  report(`Starting; data and logs are kept in ${config.dataDir}.`);
  const isAsked = stop.then((because): Ending => ({ code: 0, because }));
  // Also where this process is told to end at once.
  process.once('exit', () => removeServiceFile(config.dataDir));
  try {
    const ending = await Promise.race([isAsked, serve(config, program, stops, report)]);
    if (ending.code !== 0) console.error(ending.because);
    removeServiceFile(config.dataDir);
    console.log('Stopping (asked once more, at once) …');
    return ending.code;
  } finally {
    await stopStack(stops);
  }
}

/** Resolves when something that cannot be mended ends the service. */
async function serve(
  config: StartConfig,
  program: string,
  stops: { services: Supervisor[]; servers: (() => Promise<void>)[] },
  report: (line: string) => void,
): Promise<Ending> {
  const stack = await startStack(config, program, stops, report);
  writeServiceFile(config.dataDir, { url: stack.url, admin_url: stack.adminUrl, pid: process.pid });
  const broken = stack.broken.then((sentence): Ending => ({ code: 1, because: sentence }));
  const greeted = greet(config, stack, program, report);
  await Promise.race([greeted, broken]);
  return broken;
}
