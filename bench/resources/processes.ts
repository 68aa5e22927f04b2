import { readdirSync, readFileSync } from 'node:fs';

/** What a process and all below it have used so far. */
export interface CpuUse {
  /** Of the process itself, milliseconds. */
  readonly ownCpu: number;
  /** Of the children that it has waited for, and theirs. */
  readonly childrenCpu: number;
}

const millisecondsPerTick = 10;

export function readCpuUse(pid: number): CpuUse {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
  return {
    ownCpu: (user + system) * millisecondsPerTick,
    childrenCpu: (childUser + childSystem) * millisecondsPerTick,
  };
}

/** A process and its descendants. */
export function listTree(root: number): number[] {
  const parents = new Map(listPids().map((pid) => [pid, parentOf(pid)]));
  const tree = [root];
  for (const member of tree) for (const [pid, parent] of parents) if (parent === member) tree.push(pid);
  return tree;
}

/** Processor time that a process and those of its descendants that live have used, milliseconds. */
export function readTreeCpu(root: number): number {
  return listTree(root).reduce((sum, pid) => sum + attempt(() => readCpuUse(pid).ownCpu, 0), 0);
}

/** Memory of some processes in MiB; a page that several share counts once. */
export function readMemory(pids: readonly number[]): number {
  const sizes = pids.map((pid) =>
    attempt(() => Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0), 0),
  );
  return sizes.reduce((sum, kibibytes) => sum + kibibytes, 0) / 1024;
}

/** The words of a process's command line, with spaces between them. */
export function readCommandLine(pid: number): string {
  return attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '), '');
}

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function parentOf(pid: number): number | null {
  return attempt(() => {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  }, null);
}

/** Processes end while they are looked at. */
function attempt<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
