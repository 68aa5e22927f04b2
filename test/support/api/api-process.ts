import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withoutInspector } from '#local/node-flags.ts';

/** An API in a separate process. */
export interface ApiProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Signals the process to stop and waits for its end. Returns its exit code and its standard error. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; errors: string }>;
}

/** Starts an API process with the settings of `environment`; resolves when it listens. */
export async function startApiProcess(environment: Record<string, string>): Promise<ApiProcess> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(
    process.execPath,
    [withoutInspector, fileURLToPath(new URL('./api-process-main.ts', import.meta.url))],
    {
      env: { PATH, NODE_COMPILE_CACHE, ...environment },
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
