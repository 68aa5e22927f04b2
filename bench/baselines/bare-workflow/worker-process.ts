import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '#config';

export interface BareWorker {
  readonly taskQueue: string;
  close(): Promise<void>;
}

/** Starts the worker of bare workflows in the installation's namespace, and waits until it is ready. */
export async function startBareWorker({ temporal }: Config, directory: string, slots: number): Promise<BareWorker> {
  const workRoot = join(directory, 'bare-work');
  mkdirSync(workRoot, { recursive: true, mode: 0o711 });
  const program = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = fork(program, [temporal.address, temporal.namespace, String(slots), workRoot], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error('the bare worker exited before it was ready'))),
  ]);
  return {
    taskQueue: 'bare',
    close: async () => {
      child.disconnect();
      await ended;
    },
  };
}
