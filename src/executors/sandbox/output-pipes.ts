import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { AttemptFailure, codeOf } from '../attempt/attempt-error.ts';

/**
 * Node gives its children sockets for standard output, and a socket cannot be opened by name: `tee /dev/stderr` fails.
 * What people write for steps expects pipes, so these are pipes, by way of two names that exist for a moment.
 */
export interface OutputPipe {
  readonly source: Readable;
  /** For the child; to be closed here once it has started. */
  readonly sink: number;
}

export interface OutputPipes {
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
}

/** Pipes for one program; null on a machine without `mkfifo`. @throws AttemptFailure */
export async function openOutputPipes(directory: string): Promise<OutputPipes | null> {
  const paths = [0, 1].map(() => join(directory, `pipe-${randomBytes(8).toString('hex')}`));
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths], { cwd: directory });
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null;
    throw new AttemptFailure('step_not_started', 'no pipes could be made for the output of a step', { cause });
  }
  const [stdout, stderr] = paths.map(openPipe);
  if (!stdout || !stderr) throw new Error('no pipes');
  return { stdout, stderr };
}

function openPipe(path: string): OutputPipe {
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const sink = openSync(path, constants.O_WRONLY);
  unlinkSync(path);
  return { source: new Socket({ fd: reading, readable: true, writable: false }), sink };
}

export function closeSinks(pipes: OutputPipes | null): void {
  if (pipes === null) return;
  closeSync(pipes.stdout.sink);
  closeSync(pipes.stderr.sink);
}
