import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { withoutInspector } from '../node-flags.ts';

const program = fileURLToPath(new URL('./main.ts', import.meta.url));

/** What the process is to do: sign in at the service's address, and make the sample if it is wanted. */
export const SampleOrder = z.object({ url: z.string(), email: z.string(), password: z.string(), sample: z.boolean() });
export type SampleOrder = z.output<typeof SampleOrder>;

const SampleResult = z.object({ token: z.string(), path: z.string() });
/** The token of the session, and a path to read with it. */
export type SampleResult = z.output<typeof SampleResult>;

const SampleProgress = z.union([z.object({ line: z.string() }), SampleResult, z.object({ failure: z.string() })]);
/** What the process tells: a line to report, its result, or why it failed. */
export type SampleProgress = z.output<typeof SampleProgress>;

/**
 * Signs in and makes the sample in a process of its own, because `start` would never release the memory that this takes.
 * @throws Error if that fails, or if the process ends early
 */
export async function runSampleProcess(order: SampleOrder, report: (line: string) => void): Promise<SampleResult> {
  const child = fork(program, [], { execArgv: [withoutInspector], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const result = new Promise<SampleResult>((resolve, reject) => {
    child.on('message', (message) => {
      const progress = SampleProgress.parse(message);
      if ('line' in progress) report(progress.line);
      else if ('failure' in progress) reject(new Error(progress.failure));
      else resolve(progress);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error('the process that makes the sample ended')));
  });
  child.send(order);
  return result;
}
