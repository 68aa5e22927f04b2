import { readdirSync, readFileSync } from 'node:fs';
import { readOrNull } from './process-table.ts';

/**
 * Measures the processes of one sandbox from outside. A process namespace has its own init, which adopts orphans, so every
 * process of a sandbox stays a descendant of the process that the host started.
 */
interface TreeUsage {
  readonly processes: number;
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  /** Open files of the process that has the most. */
  readonly openFiles: number;
}

const ticksPerSecond = 100;

export function listDescendants(root: number): number[] {
  const children = readChildrenByParent();
  const found: number[] = [];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const own = children.get(pid) ?? [];
    found.push(...own);
    waiting.push(...own);
  }
  return found;
}

/** Returns a process's children, the oldest first. */
export function readChildren(pid: number): number[] {
  return readChildrenByParent().get(pid) ?? [];
}

/** Parent → children, from all of /proc, because not every kernel lists a process's children. */
function readChildrenByParent(): Map<number, number[]> {
  const childrenOf = new Map<number, number[]>();
  if (process.platform !== 'linux') return childrenOf;
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  for (const pid of pids.sort((a, b) => a - b)) {
    const parent = Number(readStat(pid)?.[1] ?? -1);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid]);
  }
  return childrenOf;
}

/** Measures a process and its descendants. A shared page counts once for each process that maps it. */
export function measureTree(root: number): TreeUsage {
  return measureProcesses([root, ...listDescendants(root)]);
}

/** Returns the largest number of open files among some processes. */
export function countOpenFiles(pids: readonly number[]): number {
  return Math.max(0, ...pids.map((pid) => readOrNull(() => readdirSync(`/proc/${pid}/fd`).length) ?? 0));
}

function measureProcesses(pids: readonly number[]): TreeUsage {
  let memoryBytes = 0;
  let ticks = 0;
  for (const pid of pids) {
    const status = readOrNull(() => readFileSync(`/proc/${pid}/status`, 'latin1')) ?? '';
    memoryBytes += readKibibytes(status, 'RssAnon') + readKibibytes(status, 'RssShmem');
    // User and system time, of the process and of the children that it has waited for.
    ticks += (readStat(pid) ?? []).slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  }
  return { processes: pids.length, memoryBytes, cpuSeconds: ticks / ticksPerSecond, openFiles: countOpenFiles(pids) };
}

/** Returns a figure of /proc/PID/status in bytes. */
function readKibibytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

/** Returns the fields of /proc/PID/stat after the name, which may contain spaces and parentheses. */
function readStat(pid: number): string[] | null {
  const text = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}
