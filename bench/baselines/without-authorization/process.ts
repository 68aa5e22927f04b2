import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ApiWithoutAuthorization {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the API without authentication and authorization, with the settings of an installation. */
export async function startWithoutAuthorization(environment: NodeJS.ProcessEnv): Promise<ApiWithoutAuthorization> {
  const child = fork(fileURLToPath(new URL('main.ts', import.meta.url)), [], {
    env: environment,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const [{ url }] = await Promise.race([
    once(child, 'message') as Promise<[{ url: string }]>,
    ended.then(() => Promise.reject(new Error('the API without authorization exited before it was ready'))),
  ]);
  return {
    url,
    close: async () => {
      child.disconnect();
      await ended;
    },
  };
}
