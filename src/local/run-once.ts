import { spawn } from 'node:child_process';
import { StartError } from './errors.ts';
import { withoutInspector } from './node-flags.ts';

/** The exit code of a command that found its work done before, by this or another process. */
export const doneBefore = 3;

const longestKept = 16 * 1024;

/**
 * Runs a command of this program as a child process to its end; what it needs to keep secret goes in by `input`.
 * @returns whether it did its work; false: it was done before
 * @throws StartError with its last words when it fails
 */
export async function runOnce(
  what: string,
  commandLine: readonly string[],
  environment: NodeJS.ProcessEnv,
  input = '',
): Promise<boolean> {
  const child = spawn(process.execPath, [withoutInspector, ...commandLine], {
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stdout?.resume();
  child.stderr?.on('data', (chunk) => {
    errors = (errors + String(chunk)).slice(-longestKept);
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  if (code === 0 || code === doneBefore) return code === 0;
  const words = errors.trim().split('\n').at(-1)?.replace(/\.$/, '') || `exit code ${code}`;
  throw new StartError(`${what} failed: ${words}.`);
}
