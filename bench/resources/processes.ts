import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The processor time that a process and its children have used so far, in milliseconds. */
export interface CpuUse {
  /** Of the process itself. */
  readonly ownCpu: number;
  /** Of the descendants that have ended and been waited for. */
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

/** The processor time of a process and its descendants, in milliseconds: of those that live, and of its own children that have ended. */
export function readTreeCpu(root: number): number {
  const ended = readOr(() => readCpuUse(root).childrenCpu, 0);
  return listTree(root).reduce((sum, pid) => sum + readOr(() => readCpuUse(pid).ownCpu, 0), ended);
}

/** The memory of processes in MiB (PSS, so that a page which several processes share counts once). */
export function readMemory(pids: readonly number[]): number {
  const sizes = pids.map((pid) =>
    readOr(() => Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0), 0),
  );
  return sizes.reduce((sum, kibibytes) => sum + kibibytes, 0) / 1024;
}

/** The command line of a process, its arguments separated by spaces; empty where the process has ended. */
export function readCommandLine(pid: number): string {
  return readOr(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '), '');
}

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function parentOf(pid: number): number | null {
  return readOr(() => {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  }, null);
}

/** Returns the fallback where the read fails, since a process may end while it is inspected. */
function readOr<Value>(read: () => Value, fallback: Value): Value {
  try {
    return read();
  } catch {
    return fallback;
  }
}

/** The local ports of the TCP connections that a process has open. */
export function listTcpPorts(pid: number): number[] {
  const open = new Set(
    readOr(() => readdirSync(`/proc/${pid}/fd`), []).map((name) =>
      readOr(() => readlinkSync(`/proc/${pid}/fd/${name}`), ''),
    ),
  );
  const sockets = readFileSync(`/proc/${pid}/net/tcp`, 'latin1').trim().split('\n').slice(1);
  return sockets.flatMap((socket) => {
    const fields = socket.trim().split(/\s+/);
    const port = Number.parseInt(fields[1]?.split(':')[1] ?? '', 16);
    return open.has(`socket:[${fields[9]}]`) ? [port] : [];
  });
}
