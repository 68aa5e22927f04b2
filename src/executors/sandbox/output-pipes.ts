import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { AttemptFailure, codeOf } from '../shared/errors.ts';

/**
 * Node gives its children sockets as standard output, and a socket cannot be opened by name: `tee /dev/stderr` fails. Scripts
 * expect pipes, so these are named pipes whose names are removed at once.
 */
interface OutputPipe {
  readonly source: Readable;
  /** The descriptor for the child; close it once the child has started. */
  readonly sink: number;
}

export interface OutputPipes {
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
}

/** Opens pipes for one program; null on a machine without `mkfifo`. @throws AttemptFailure */
export async function openOutputPipes(directory: string): Promise<OutputPipes | null> {
  const paths = [0, 1].map(() => join(directory, `pipe-${randomBytes(8).toString('hex')}`));
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths], { cwd: directory });
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null;
    throw new AttemptFailure('step_not_started', "the pipes for a step's output could not be made", { cause });
  }
  const [stdout, stderr] = paths.map(openPipe);
  if (!stdout || !stderr) throw new Error('mkfifo made no pipes');
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
