import { posix } from 'node:path';
import { AttemptFailure } from './attempt-error.ts';

/** What a step was to start, and the files among which it was. */
export interface Start {
  readonly program: string;
  /** Below the work directory. */
  readonly directory: string;
  /** By path, as they were laid out: the template's below `work/`. */
  readonly files: ReadonlyMap<string, string | Buffer>;
}

/** Says that a program could not be started, and what the author of the template can change. */
export function notStarted(start: Start): AttemptFailure {
  const problem = `"${start.program}" could not be started: there is no such program, or it may not be run`;
  const hint = hintOf(start);
  return new AttemptFailure('step_not_started', hint === null ? problem : `${problem}. ${hint}`);
}

function hintOf({ program, directory, files }: Start): string | null {
  if (/\s/.test(program)) {
    const words = JSON.stringify(program.trim().split(/\s+/));
    return `"run" is a list with one word in each item: ${words}`;
  }
  const file = files.get(`work/${posix.normalize(posix.join(directory, program))}`);
  if (file === undefined) return program.includes('/') ? null : placesOfPrograms;
  if (!program.includes('/')) return `To run the template's own file, write "./${program}"`;
  return Buffer.from(file).subarray(0, 2).toString('latin1') === '#!'
    ? null
    : 'A file that is run must begin with #! and the path of its interpreter, such as #!/bin/sh';
}

const placesOfPrograms =
  'Sandboxes see the programs of /usr and its like, and those in the directories of COORDINATOR_EXECUTOR_PATHS';

/** A script that was saved with the line ends of Windows names an interpreter that nobody has. @throws AttemptFailure */
export function refuseCarriageReturn({ program, directory, files }: Start): void {
  const file = files.get(`work/${posix.normalize(posix.join(directory, program))}`);
  const [firstLine = ''] = file === undefined ? [] : Buffer.from(file).subarray(0, 1024).toString('latin1').split('\n');
  if (!program.includes('/') || !firstLine.startsWith('#!') || !firstLine.endsWith('\r')) return;
  const message = `"${program}" cannot be run: its first line ends with a carriage return. Save it with LF line ends`;
  throw new AttemptFailure('step_not_started', message);
}
