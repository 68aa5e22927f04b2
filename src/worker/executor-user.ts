import { execFileSync } from 'node:child_process';
import type { ExecutorUser } from '#executors/protocol.ts';

/**
 * The account that the setting names, as numbers. Null where none is named: the executor then makes an identity for each
 * attempt where it may, and stays the worker's own user where it may not.
 */
export function findExecutorUser(name: string | null): ExecutorUser | null {
  if (name === null) return null;
  if (process.getuid?.() !== 0) {
    throw new Error(
      'COORDINATOR_EXECUTOR_USER needs a worker that runs as root: leave it out, or start the worker as root.',
    );
  }
  try {
    return { uid: readId('-u', name), gid: readId('-g', name) };
  } catch {
    throw new Error(`COORDINATOR_EXECUTOR_USER names the account "${name}", which does not exist on this machine.`);
  }
}

function readId(flag: string, name: string): number {
  return Number(execFileSync('id', [flag, '--', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}
