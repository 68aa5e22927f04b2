import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Control groups, which limit the memory, processor time and number of processes of a job. A worker that runs as root, or in a
 * group that was delegated to it, makes one group below its own and gives it to the executor host. The host makes a group in it
 * for each job. Both versions of the kernel's interface are supported.
 */

/** The group in which the host makes its own. It crosses the pipe to the host. */
export interface GroupRoot {
  readonly version: 1 | 2;
  /** Version 1: a directory for each controller. Version 2: one directory, named `all`. */
  readonly directories: Readonly<Record<string, string>>;
}

/** Version 2 only: the group of the host itself. */
const hostGroup = 'host';
const maxTries = 100;
const maxPauseMs = 20;
const controllers = ['memory', 'pids', 'cpu', 'cpuacct'] as const;

/** Makes a group for a worker and gives it to a user. Null if this machine or this user cannot have one. */
export function delegateGroup(name: string, owner: { uid: number; gid: number }): GroupRoot | null {
  try {
    return delegateVersion1(name, owner) ?? delegateVersion2(name, owner);
  } catch {
    // No permission, a read-only file system, or a kernel without the controllers: limits are then enforced without groups.
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
    const relativePath = relative(mount.root, group);
    const parent = relativePath.startsWith('..') ? mount.path : join(mount.path, relativePath);
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
  const relativePath = relative(mount.root, own);
  const parent = relativePath.startsWith('..') ? mount.path : join(mount.path, relativePath);
  const offered = readFileSync(join(parent, 'cgroup.controllers'), 'utf8').split(/\s+/);
  if (!offered.includes('memory') || !offered.includes('pids')) return null;
  const wanted = ['memory', 'pids', 'cpu'].filter((controller) => offered.includes(controller));
  const enable = wanted.map((controller) => `+${controller}`).join(' ');
  // A group that delegates controllers must not contain processes, so this process moves to a group beside the attempts'.
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

/**
 * Moves the host into a group next to its children's: in version 2 it may only move processes within a group that it owns. The
 * worker calls this, because it has the permission.
 */
export function enterHostGroup(root: GroupRoot, pid: number): void {
  if (root.version === 2) writeFileSync(join(root.directories['all'] ?? '', hostGroup, 'cgroup.procs'), String(pid));
}

/**
 * Removes a worker's groups and those below them. It retries for a while, because the kernel releases the processes of an ended
 * sandbox with a delay, and leaves groups that still contain a process after that.
 */
export async function removeGroups(root: GroupRoot): Promise<void> {
  const areGone = () => Object.values(root.directories).every((directory) => !existsSync(directory));
  for (let tries = 0; tries < maxTries && !areGone(); tries++) {
    if (tries > 0) await sleep(Math.min(tries, maxPauseMs));
    tryToRemove(root);
  }
}

function tryToRemove(root: GroupRoot): void {
  for (const directory of Object.values(root.directories)) {
    for (const name of listGroups(directory)) removeGroup(join(directory, name));
    removeGroup(directory);
  }
}

/** Removes the groups of killed workers, whose names have the prefix, after ending what still runs in them. */
export function removeOrphanedGroups(root: GroupRoot, prefix: string, isAlive: (name: string) => boolean): void {
  for (const directory of Object.values(root.directories)) {
    const parent = join(directory, '..');
    for (const name of listGroups(parent)) {
      if (!name.startsWith(prefix) || isAlive(name)) continue;
      for (const child of listGroups(join(parent, name))) killAndRemoveGroup(join(parent, name, child));
      removeGroup(join(parent, name));
    }
  }
}

/** Ends and removes what earlier hosts of the same worker left in its groups. */
export function killAndRemoveGroups(root: GroupRoot): void {
  for (const directory of Object.values(root.directories)) {
    for (const name of listGroups(directory)) if (name !== hostGroup) killAndRemoveGroup(join(directory, name));
  }
}

/** Kills the processes that are left in a group, and removes it once the kernel releases it. */
function killAndRemoveGroup(directory: string): void {
  for (let tries = 0; tries < 20 && !removeGroup(directory); tries++) killProcesses(readProcesses(directory));
}

function readProcesses(directory: string): number[] {
  try {
    return readFileSync(join(directory, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Tolerates processes that have ended meanwhile or belong to another user. */
export function killProcesses(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      if (pid > 1 && pid !== process.pid) process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended, or belongs to another user.
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

/** Controller → path of this process's group; the controller is '' for version 2. */
function readOwnGroups(): Map<string, string> {
  const own = new Map<string, string>();
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')) {
    const [, names = '', ...path] = line.split(':');
    for (const name of names.split(',')) own.set(name, path.join(':'));
  }
  return own;
}

/** Returns the mounts of a kind from /proc/self/mountinfo. */
function readMounts(kind: 'cgroup' | 'cgroup2'): { root: string; path: string; options: string[] }[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', path = ''] = before.split(' ');
    const [type, , options = ''] = after.split(' ');
    return type === kind ? [{ root, path, options: options.split(',') }] : [];
  });
}

/** Kernels differ in the files that they offer; a missing file means a limit that cannot be set. */
export function writeIfPresent(path: string, value: string): void {
  if (existsSync(path)) writeFileSync(path, value);
}
