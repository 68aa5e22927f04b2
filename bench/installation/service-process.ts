import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutInspector } from '#local/node-flags.ts';

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** A process of the service, started as `npm run api` and `npm run worker` start it. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a process and waits until it is ready. If `profiles` names a directory, the process writes its CPU profile there when it stops. */
export async function startServiceProcess(
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
  directory: string,
  profiles: string | null,
): Promise<ServiceProcess> {
  mkdirSync(directory, { recursive: true });
  const log = openSync(join(directory, `${name}.log`), 'a');
  const profiling =
    profiles === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}.cpuprofile`];
  const child = spawn(process.execPath, [withoutInspector, ...profiling, program, name], {
    env: environment,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const ended = once(child, 'exit');
  const ready = await Promise.race([readyMessage(child), ended.then(() => null)]);
  if (ready === null)
    throw new Error(`the ${name} process exited before it was ready; see ${join(directory, `${name}.log`)}`);
  return {
    url: ready.url ?? '',
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function readyMessage(child: ChildProcess): Promise<{ url?: string }> {
  const [message] = await once(child, 'message');
  return message;
}
