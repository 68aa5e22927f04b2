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
import { announceService } from './sample/first-start.ts';
import { type Stops, startStack, stopStack } from './stack.ts';

/** `reason`: why the process was asked to stop, or a sentence that says what failed. */
type Outcome = { readonly code: number; readonly reason: string };

/**
 * Runs the whole service in one process tree until the process is asked to stop. Nothing that it starts outlives it.
 * @returns the exit code
 * @throws StartError if the service cannot start
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
  const stops: Stops = { services: [], servers: [] };
  const startedAt = performance.now();
  const report = (line: string) => console.log(`[${((performance.now() - startedAt) / 1000).toFixed(1)} s] ${line}`);
  report(`Starting. Data and logs are in ${config.dataDir}.`);
  const stopped = stop.then((reason): Outcome => ({ code: 0, reason }));
  // Removes the file even if a second signal exits at once.
  process.once('exit', () => removeServiceFile(config.dataDir));
  try {
    const outcome = await Promise.race([stopped, serve(config, program, stops, report)]);
    if (outcome.code !== 0) console.error(outcome.reason);
    removeServiceFile(config.dataDir);
    console.log('Stopping … (press Ctrl-C again to stop at once)');
    return outcome.code;
  } finally {
    await stopStack(stops);
  }
}

/** Resolves when an embedded server ends, because the service cannot work without it. */
async function serve(
  config: StartConfig,
  program: string,
  stops: Stops,
  report: (line: string) => void,
): Promise<Outcome> {
  const stack = await startStack(config, program, stops, report);
  const broken = stack.broken.then((sentence): Outcome => ({ code: 1, reason: sentence }));
  const announced = announceService(config, stack, program, report, () => {
    writeServiceFile(config.dataDir, { url: stack.url, admin_url: stack.adminUrl, pid: process.pid });
  });
  await Promise.race([announced, broken]);
  return broken;
}
