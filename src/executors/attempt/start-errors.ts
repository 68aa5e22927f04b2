import { posix } from 'node:path';
import { hasShebang } from '#domain/sources/files.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { type JobFile, jobFileBytes } from './work-files.ts';

/** The program that a step tries to start, and the files that may contain it. */
export interface ProgramStart {
  readonly program: string;
  /** Relative to the work directory. */
  readonly directory: string;
  /** By path in the job; the template's files are below `work/`. */
  readonly files: ReadonlyMap<string, JobFile>;
}

/** Reports a program that could not be started, and hints at what the template's author can change. */
export function programNotStarted(start: ProgramStart): AttemptFailure {
  const problem = `"${start.program}" could not be started: there is no such program, or it is not executable`;
  const hint = hintFor(start);
  return new AttemptFailure('step_not_started', hint === null ? problem : `${problem}. ${hint}`);
}

function hintFor({ program, directory, files }: ProgramStart): string | null {
  if (/\s/.test(program)) {
    const words = JSON.stringify(program.trim().split(/\s+/));
    return `"run" is a list with one word in each item: ${words}`;
  }
  const file = files.get(`work/${posix.normalize(posix.join(directory, program))}`);
  if (file === undefined) return program.includes('/') ? null : programPathHint;
  if (!program.includes('/')) return `To run the template's own file, write "./${program}"`;
  return hasShebang(jobFileBytes(file))
    ? null
    : 'A file that is run must begin with #! and the path of its interpreter, such as #!/bin/sh';
}

const programPathHint =
  'Sandboxes see the programs below /usr, /bin and other system directories, and those in the directories of COORDINATOR_EXECUTOR_PATHS';

/** Rejects a script with Windows line endings: the carriage return would become part of its interpreter's name. @throws AttemptFailure */
export function rejectCarriageReturn({ program, directory, files }: ProgramStart): void {
  const file = files.get(`work/${posix.normalize(posix.join(directory, program))}`);
  const [firstLine = ''] =
    file === undefined ? [] : jobFileBytes(file).subarray(0, 1024).toString('latin1').split('\n');
  if (!program.includes('/') || !firstLine.startsWith('#!') || !firstLine.endsWith('\r')) return;
  const message = `"${program}" cannot be run: its first line ends with a carriage return. Save it with LF line endings`;
  throw new AttemptFailure('step_not_started', message);
}
