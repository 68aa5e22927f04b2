import { readFileSync } from 'node:fs';

/** Resident memory in MiB. */
interface Memory {
  /** What a group's processes share with nothing else, and memory that PostgreSQL's processes share. */
  own: number;
  /** The largest part of each file that one of its processes has mapped. */
  readonly files: Map<string, number>;
}

/**
 * The memory of groups of processes in MiB, as if no other process ran on the machine. Their PSS would depend on how many others
 * happen to run the same programs. A file counts once, and groups that have mapped it share it equally.
 */
export function readOwnMemory(groups: Readonly<Record<string, readonly number[]>>): Record<string, number> {
  const memories = Object.entries(groups).map(([name, pids]) => [name, readGroup(pids)] as const);
  const sizes = new Map<string, { size: number; users: number }>();
  for (const [, { files }] of memories) {
    for (const [file, resident] of files) {
      const known = sizes.get(file) ?? { size: 0, users: 0 };
      sizes.set(file, { size: Math.max(known.size, resident), users: known.users + 1 });
    }
  }
  const shareOf = (file: string) => (sizes.get(file)?.size ?? 0) / (sizes.get(file)?.users ?? 1);
  return Object.fromEntries(
    memories.map(([name, { own, files }]) => [name, [...files.keys()].reduce((sum, file) => sum + shareOf(file), own)]),
  );
}

function readGroup(pids: readonly number[]): Memory {
  const memory: Memory = { own: 0, files: new Map() };
  for (const pid of pids) addProcess(memory, pid);
  return memory;
}

const head = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ (\S+) (\d+)\s*(.*)$/;
const field = /^(Rss|Pss|Anonymous):\s+(\d+) kB$/;

/** Adds what `/proc/<pid>/smaps` says about each mapping of a process. */
function addProcess(memory: Memory, pid: number): void {
  const resident = new Map<string, number>();
  let file: string | null = null;
  let [rss, pss] = [0, 0];
  for (const line of readMappings(pid)) {
    const [, device = '', inode = '0', path = ''] = head.exec(line) ?? [];
    if (device !== '') file = inode === '0' ? null : `${device} ${inode} ${path}`;
    const [, name, kibibytes] = field.exec(line) ?? [];
    if (name === 'Rss') rss = Number(kibibytes) / 1024;
    if (name === 'Pss') pss = Number(kibibytes) / 1024;
    if (name !== 'Anonymous') continue;
    const anonymous = Number(kibibytes) / 1024;
    // Memory that processes share without a file, such as PostgreSQL's buffers, has the path of a deleted file or of a device.
    if (file === null || /\(deleted\)$|^\S+ \S+ \/dev\//.test(file)) memory.own += pss;
    else {
      memory.own += anonymous;
      resident.set(file, (resident.get(file) ?? 0) + rss - anonymous);
    }
  }
  for (const [path, size] of resident) memory.files.set(path, Math.max(memory.files.get(path) ?? 0, size));
}

/** Empty where the process has ended. */
function readMappings(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/smaps`, 'latin1').split('\n');
  } catch {
    return [];
  }
}
