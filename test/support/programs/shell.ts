import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface ShellResult {
  /** Null if the script was killed because it took too long. */
  readonly code: number | null;
  /** All of standard output. */
  readonly output: string;
  /** All of standard error. */
  readonly errors: string;
}

/** Runs `sh` (or another shell) with the search path of this process and no other variable of its environment. */
export async function runShell(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { shell = 'sh', input = '', withinMs = 60_000 } = {},
): Promise<ShellResult> {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', ...environment };
  const child = spawn(shell, args, { env, timeout: withinMs, killSignal: 'SIGKILL' });
  child.stdin.end(input);
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, output, errors };
}
