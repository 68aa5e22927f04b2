import { readdirSync, readFileSync } from 'node:fs';

/**
 * The processes of one sandbox as the host sees them. A process namespace has an init of its own to which orphans go, so
 * every process of a sandbox is a descendant of the process that the host started, whatever it does.
 */
export interface TreeUsage {
  readonly processes: number;
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  /** Descriptors of the process that has the most. */
  readonly openFiles: number;
}

const ticksPerSecond = 100;

export function listDescendants(root: number): number[] {
  const children = readFamilies();
  const found: number[] = [];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const own = children.get(pid) ?? [];
    found.push(...own);
    waiting.push(...own);
  }
  return found;
}

/** The children of a process, the oldest first. */
export function readChildren(pid: number): number[] {
  return readFamilies().get(pid) ?? [];
}

/** Parent → children. Not every kernel tells a process's children by itself. */
function readFamilies(): Map<number, number[]> {
  const families = new Map<number, number[]>();
  if (process.platform !== 'linux') return families;
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  for (const pid of pids.sort((a, b) => a - b)) {
    const parent = Number(readStat(pid)?.[1] ?? -1);
    families.set(parent, [...(families.get(parent) ?? []), pid]);
  }
  return families;
}

/** What a process and its descendants take together. Shared pages count once for each process that maps them. */
export function measureTree(root: number): TreeUsage {
  return measureProcesses([root, ...listDescendants(root)]);
}

/** The most files that one of some processes has open. */
export function countOpenFiles(pids: readonly number[]): number {
  return Math.max(0, ...pids.map((pid) => attempt(() => readdirSync(`/proc/${pid}/fd`).length) ?? 0));
}

function measureProcesses(pids: readonly number[]): TreeUsage {
  let memoryBytes = 0;
  let ticks = 0;
  for (const pid of pids) {
    const status = attempt(() => readFileSync(`/proc/${pid}/status`, 'latin1')) ?? '';
    memoryBytes += readKibibytes(status, 'RssAnon') + readKibibytes(status, 'RssShmem');
    // User and system time of its own and of the children that it has waited for.
    ticks += (readStat(pid) ?? []).slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  }
  return { processes: pids.length, memoryBytes, cpuSeconds: ticks / ticksPerSecond, openFiles: countOpenFiles(pids) };
}

/** A figure of /proc/PID/status, in bytes. */
function readKibibytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

/** The fields of /proc/PID/stat behind the name, which may itself hold spaces and parentheses. */
function readStat(pid: number): string[] | null {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Processes end while they are looked at. */
function attempt<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
