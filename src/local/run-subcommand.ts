import { spawn } from 'node:child_process';
import { StartError } from './errors.ts';
import { withoutInspector } from './node-flags.ts';

/** The exit code of a subcommand that finds its work already done. */
export const alreadyDoneExitCode = 3;

const maxKept = 16 * 1024;

/**
 * Runs a subcommand of this program as a child process and waits for its end. Pass secrets by `input`, its standard input.
 * @returns whether it did its work; false: the work was already done
 * @throws StartError with the last line of its standard error if it fails
 */
export async function runSubcommand(
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
    errors = (errors + String(chunk)).slice(-maxKept);
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  if (code === 0 || code === alreadyDoneExitCode) return code === 0;
  const reason = errors.trim().split('\n').at(-1)?.replace(/\.$/, '') || `exit code ${code}`;
  throw new StartError(`${what} failed: ${reason}.`);
}
