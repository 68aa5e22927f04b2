import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withoutInspector } from '#local/node-flags.ts';

/** An API in an operating-system process of its own. */
export interface ApiProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Asks it to stop, as a supervisor does, and waits until it has; answers how it ended and what it complained of. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; errors: string }>;
}

/** Starts one with the settings of `environment`; resolves when it listens. */
export async function startApiProcess(environment: Record<string, string>): Promise<ApiProcess> {
  const child = spawn(
    process.execPath,
    [withoutInspector, fileURLToPath(new URL('./api-process-main.ts', import.meta.url))],
    {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const ended = new Promise<{ code: number | null; errors: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, errors }));
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    child.once('close', (code) =>
      reject(new Error(`the API process ended with ${code} before it listened: ${errors}`)),
    );
  });
  return {
    url,
    process: child,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}
