import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Control groups, which hold the memory, the processor time and the number of processes of one attempt together. A worker
 * that runs as root, or in a group that was delegated to it, makes one group below its own and gives it to the executor
 * host. The host makes a group in it for each attempt. Both versions of the kernel's interface are supported.
 */

/** Where the host makes its groups; it crosses the pipe to the host. */
export interface GroupRoot {
  readonly version: 1 | 2;
  /** Version 1: a directory for each controller. Version 2: one directory for all. */
  readonly directories: Readonly<Record<string, string>>;
}

/** Of version 2: where the host itself is. */
const hostGroup = 'host';
const mostTries = 100;
const longestPauseMs = 20;
const controllers = ['memory', 'pids', 'cpu', 'cpuacct'] as const;

/** Makes a group for a worker and gives it to a user. Null where this machine, or this user, cannot have one. */
export function delegateGroup(name: string, owner: { uid: number; gid: number }): GroupRoot | null {
  try {
    return delegateVersion1(name, owner) ?? delegateVersion2(name, owner);
  } catch {
    // No permission, a read-only file system, a kernel without the controllers: limits are kept without groups then.
    return null;
  }
}

function delegateVersion1(name: string, owner: { uid: number; gid: number }): GroupRoot | null {
  const own = readOwnGroups();
  const mounts = readMounts('cgroup');
  const directories: Record<string, string> = {};
  for (const controller of controllers) {
    const mount = mounts.find(({ options }) => options.includes(controller));
    const group = own.get(controller);
    if (!mount || group === undefined) continue;
    const inside = relative(mount.root, group);
    const parent = inside.startsWith('..') ? mount.path : join(mount.path, inside);
    const directory = join(parent, name);
    makeOwned(directory, owner);
    directories[controller] = directory;
  }
  if (!directories['memory'] || !directories['pids']) return null;
  writeIfPresent(join(directories['cpu'] ?? '', 'cpu.shares'), '1024');
  return { version: 1, directories };
}

function delegateVersion2(name: string, owner: { uid: number; gid: number }): GroupRoot | null {
  const [mount] = readMounts('cgroup2');
  const own = readOwnGroups().get('');
  if (!mount || own === undefined) return null;
  const inside = relative(mount.root, own);
  const parent = inside.startsWith('..') ? mount.path : join(mount.path, inside);
  const offered = readFileSync(join(parent, 'cgroup.controllers'), 'utf8').split(/\s+/);
  if (!offered.includes('memory') || !offered.includes('pids')) return null;
  const wanted = ['memory', 'pids', 'cpu'].filter((controller) => offered.includes(controller));
  const enable = wanted.map((controller) => `+${controller}`).join(' ');
  // A group that hands out controllers may hold no process itself: this process moves into one beside the attempts'.
  const leaf = join(parent, `${name}.worker`);
  mkdirSync(leaf, { recursive: true });
  writeFileSync(join(leaf, 'cgroup.procs'), String(process.pid));
  writeFileSync(join(parent, 'cgroup.subtree_control'), enable);
  const directory = join(parent, name);
  makeOwned(directory, owner);
  writeFileSync(join(directory, 'cgroup.subtree_control'), enable);
  const host = join(directory, hostGroup);
  makeOwned(host, owner);
  return { version: 2, directories: { all: directory } };
}

function makeOwned(directory: string, { uid, gid }: { uid: number; gid: number }): void {
  mkdirSync(directory, { recursive: true });
  chownSync(directory, uid, gid);
  for (const file of ['cgroup.procs', 'tasks', 'cgroup.subtree_control', 'cgroup.threads']) {
    if (existsSync(join(directory, file))) chownSync(join(directory, file), uid, gid);
  }
}

/** Moves the host to where it may move its children from: version 2 demands a common group that it owns. Called by the worker, which may. */
export function enterHostGroup(root: GroupRoot, pid: number): void {
  if (root.version === 2) writeFileSync(join(root.directories['all'] ?? '', hostGroup, 'cgroup.procs'), String(pid));
}

/**
 * Removes a worker's groups and those below them, once the kernel lets go of the last processes in them: a sandbox that has
 * ended with its host needs a moment. Leaves what still holds a process after that.
 */
export async function removeGroups(root: GroupRoot): Promise<void> {
  const areGone = () => Object.values(root.directories).every((directory) => !existsSync(directory));
  for (let tries = 0; tries < mostTries && !areGone(); tries++) {
    if (tries > 0) await sleep(Math.min(tries, longestPauseMs));
    tryToRemove(root);
  }
}

function tryToRemove(root: GroupRoot): void {
  for (const directory of Object.values(root.directories)) {
    for (const name of listGroups(directory)) removeGroup(join(directory, name));
    removeGroup(directory);
  }
}

/** Groups that workers of this name's beginning left when they were killed: those in which no process lives. */
export function removeForsakenGroups(root: GroupRoot, prefix: string, isAlive: (name: string) => boolean): void {
  for (const directory of Object.values(root.directories)) {
    const parent = join(directory, '..');
    for (const name of listGroups(parent)) {
      if (!name.startsWith(prefix) || isAlive(name)) continue;
      for (const child of listGroups(join(parent, name))) endGroup(join(parent, name, child));
      removeGroup(join(parent, name));
    }
  }
}

/** Ends and removes what an earlier host of the same worker left in its groups. */
export function endGroups(root: GroupRoot): void {
  for (const directory of Object.values(root.directories)) {
    for (const name of listGroups(directory)) if (name !== hostGroup) endGroup(join(directory, name));
  }
}

/** Ends what a killed worker or host left running in a group, and removes the group once the kernel lets go of it. */
function endGroup(directory: string): void {
  for (let tries = 0; tries < 20 && !removeGroup(directory); tries++) killEach(readProcesses(directory));
}

function readProcesses(directory: string): number[] {
  try {
    return readFileSync(join(directory, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Processes end by themselves meanwhile, and those of others are not ours to end. */
export function killEach(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      if (pid > 1 && pid !== process.pid) process.kill(pid, 'SIGKILL');
    } catch {
      // It is gone, or another user's.
    }
  }
}

function listGroups(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

export function removeGroup(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return !existsSync(directory);
  }
}

/** Controller → path of this process's group; '' for version 2. */
function readOwnGroups(): Map<string, string> {
  const own = new Map<string, string>();
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')) {
    const [, names = '', ...path] = line.split(':');
    for (const name of names.split(',')) own.set(name, path.join(':'));
  }
  return own;
}

/** The writable mounts of a kind, from /proc/self/mountinfo. */
function readMounts(kind: 'cgroup' | 'cgroup2'): { root: string; path: string; options: string[] }[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', path = ''] = before.split(' ');
    const [type, , options = ''] = after.split(' ');
    return type === kind ? [{ root, path, options: options.split(',') }] : [];
  });
}

/** Kernels differ in the files that they have: what is missing cannot be limited by them. */
export function writeIfPresent(path: string, value: string): void {
  if (existsSync(path)) writeFileSync(path, value);
}
