import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';
import { readProcess } from '#domain/shared/processes.ts';

/**
 * Identifies the processes of an attempt that runs without a sandbox. Every process that the attempt starts has the cookie in
 * its environment.
 */
export interface AttemptMark {
  readonly cookie: string;
  readonly directory: string;
  /** The first process; null once it has ended. */
  readonly root: number | null;
}

/** The environment variable that holds the cookie. */
export const cookieVariable = 'COORDINATOR_ATTEMPT';

/** Process id → start time in clock ticks since boot, because ids are reused. */
export type KnownProcesses = Map<number, string>;

/**
 * Finds the living processes of an attempt: descendants, processes with the cookie, known ones, and those whose working
 * directory is in the attempt's. Works on Linux only; elsewhere it finds none.
 */
export function findAttemptProcesses(mark: AttemptMark, known: KnownProcesses = new Map()): KnownProcesses {
  const found: KnownProcesses = new Map();
  for (const pid of listPids()) {
    if (pid === process.pid) continue;
    const entry = readProcess(pid);
    if (entry === null || entry.state === 'Z' || entry.state === 'X') continue;
    const { parent, started } = entry;
    const isOwn =
      pid === mark.root || found.has(parent) || known.get(pid) === started || (parent !== 0 && isMarked(pid, mark));
    if (isOwn) found.set(pid, started);
  }
  return found;
}

/** Sorted ascending, so that nearly all parents come before their children. */
function listPids(): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.sort((a, b) => a - b);
}

function isMarked(pid: number, { cookie, directory }: AttemptMark): boolean {
  const environment = readOrNull(() => readFileSync(`/proc/${pid}/environ`, 'latin1'));
  if (environment?.split('\0').includes(`${cookieVariable}=${cookie}`)) return true;
  const workingDirectory = readOrNull(() => readlinkSync(`/proc/${pid}/cwd`));
  return workingDirectory === directory || Boolean(workingDirectory?.startsWith(directory + sep));
}

/** Null if the process has ended meanwhile or belongs to another user; neither is a process of the attempt. */
export function readOrNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
