import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { listNames } from './work-files.ts';

/** How the processes of an attempt are told from all others. The cookie is in the environment of every one it starts. */
export interface AttemptMark {
  readonly cookie: string;
  /** An identity that no other attempt has; null where it is shared. */
  readonly isolatedUid: number | null;
  /** The attempt's directory; null before it has one. */
  readonly directory: string | null;
  /** The executor itself, whose descendants are meant and who is spared; null: whoever carries the mark is meant. */
  readonly executorPid: number | null;
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
 * before, and those that stand in its directory. Where its identity is its own, that alone decides. Only Linux tells.
 */
export function findAttemptProcesses(mark: AttemptMark, known: KnownProcesses = new Map()): KnownProcesses {
  const found: KnownProcesses = new Map();
  for (const pid of listPids()) {
    if (pid === mark.executorPid || pid === process.pid) continue;
    // Cheap, and enough by itself: who owns a process is known without reading any of its files.
    if (mark.isolatedUid !== null && ownerOf(pid) !== mark.isolatedUid) continue;
    const entry = readProcess(pid);
    if (entry === null || entry.state === 'Z' || entry.state === 'X') continue;
    const { parent, started } = entry;
    const isMeant =
      mark.isolatedUid !== null ||
      parent === mark.executorPid ||
      found.has(parent) ||
      known.get(pid) === started ||
      isMarked(pid, mark);
    if (isMeant) found.set(pid, started);
  }
  return found;
}

/** Lowest first, so that nearly all parents come before their children; none where the system does not tell. */
function listPids(): number[] {
  if (process.platform !== 'linux') return [];
  const pids = listNames('/proc').map(Number).filter(Number.isInteger);
  return pids.sort((a, b) => a - b);
}

/** The fields of /proc/PID/stat follow the name, which may itself hold spaces and parentheses. */
function readProcess(pid: number): ProcessEntry | null {
  const text = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), started: fields[19] ?? '' };
}

/** Whether the executor that was started with this cookie still runs. Where nobody can tell, it counts as running. */
export function isExecutorAlive(cookie: string): boolean {
  if (process.platform !== 'linux') return true;
  return listPids().some((pid) => {
    const commandLine = readOrNull(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1'))?.split('\0');
    return commandLine?.includes(cookie) && commandLine.some((part) => part.endsWith('executors/main.ts'));
  });
}

function ownerOf(pid: number): number | null {
  return readOrNull(() => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? null);
}

function isMarked(pid: number, { cookie, directory }: AttemptMark): boolean {
  const environment = readOrNull(() => readFileSync(`/proc/${pid}/environ`, 'latin1'));
  if (environment?.split('\0').includes(`${cookieVariable}=${cookie}`)) return true;
  if (directory === null) return false;
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
