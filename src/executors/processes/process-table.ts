import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';

/**
 * How the processes of an attempt are told from all others where no sandbox holds them together. The cookie is in the
 * environment of every process that the attempt starts.
 */
export interface AttemptMark {
  readonly cookie: string;
  readonly directory: string;
  /** The process that was started first; null once it is gone. */
  readonly root: number | null;
}

/** The name of the variable that carries the cookie. */
export const cookieVariable = 'COORDINATOR_ATTEMPT';

/** Process → when it started, in ticks since the machine did: a number alone may be used again. */
export type KnownProcesses = Map<number, string>;

interface ProcessEntry {
  readonly state: string;
  readonly parent: number;
  readonly started: string;
}

/**
 * The living processes of an attempt, however they tried to leave: descendants, carriers of the cookie, those seen
 * before, and those that stand in its directory. Only Linux tells; elsewhere nobody is found.
 */
export function findAttemptProcesses(mark: AttemptMark, known: KnownProcesses = new Map()): KnownProcesses {
  const found: KnownProcesses = new Map();
  for (const pid of listPids()) {
    if (pid === process.pid) continue;
    const entry = readProcess(pid);
    if (entry === null || entry.state === 'Z' || entry.state === 'X') continue;
    const { parent, started } = entry;
    const isMeant =
      pid === mark.root || found.has(parent) || known.get(pid) === started || (parent !== 0 && isMarked(pid, mark));
    if (isMeant) found.set(pid, started);
  }
  return found;
}

/** Lowest first, so that nearly all parents come before their children. */
function listPids(): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.sort((a, b) => a - b);
}

/** The fields of /proc/PID/stat follow the name, which may itself hold spaces and parentheses. */
function readProcess(pid: number): ProcessEntry | null {
  const text = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), started: fields[19] ?? '' };
}

/** When a process started, in the kernel's ticks; null where it does not live. Number and start together name a process for good. */
export function readStart(pid: number): string | null {
  const entry = readProcess(pid);
  return entry === null || entry.state === 'Z' ? null : entry.started;
}

function isMarked(pid: number, { cookie, directory }: AttemptMark): boolean {
  const environment = readOrNull(() => readFileSync(`/proc/${pid}/environ`, 'latin1'));
  if (environment?.split('\0').includes(`${cookieVariable}=${cookie}`)) return true;
  const place = readOrNull(() => readlinkSync(`/proc/${pid}/cwd`));
  return place === directory || Boolean(place?.startsWith(directory + sep));
}

/** Processes end while they are looked at, and those of others are not ours to read: both are none of the attempt's. */
function readOrNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
