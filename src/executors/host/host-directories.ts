import { chmodSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { readStart } from '#domain/shared/processes.ts';
import { AttemptProcesses } from '../processes/attempt-processes.ts';
import { initFile, sandboxPrefix } from '../sandbox/sandbox.ts';
import { codeOf, reportUnexpectedError } from '../shared/errors.ts';
import { hostDirectoryPrefix } from '../shared/host-directory.ts';

/**
 * The directories of hosts. Each records the process that owns it, so that a later host of the same user can tell a killed host
 * from a living one. Only hosts remove them, because a host can touch nothing but its user's files.
 */

const ownerFile = 'owner';
/** How long a directory may be without an owner while a host starts in it. */
const startingMs = 60_000;

/** Records the owner of a directory: its process id, its start time, and the directory of its sockets. */
export function claimDirectory(directory: string, socketDirectory: string): void {
  const owner = [process.pid, readStart(process.pid), socketDirectory].join(' ');
  writeFileSync(join(directory, ownerFile), owner, { mode: 0o600 });
}

/** Ends and removes what killed hosts left below a directory. Returns how many there were. */
export async function removeOrphanedHosts(root: string): Promise<number> {
  let removed = 0;
  for (const name of listNames(root).filter((entry) => entry.startsWith(hostDirectoryPrefix))) {
    const directory = join(root, name);
    const [pid = '', start = '', ...sockets] = readText(join(directory, ownerFile)).split(' ');
    if (isAlive(directory, pid, start)) continue;
    try {
      await killLeftProcesses(directory);
      removeHostDirectory(directory);
      if (sockets.length > 0) removeHostDirectory(sockets.join(' '));
      removed++;
    } catch (error) {
      // The directory belongs to another user, as which the host ran before. People have to remove it.
      reportUnexpectedError(error);
    }
  }
  return removed;
}

/** Removes the directory that contains those of a user's hosts, with everything that they cached, unless a host uses it. */
export function removeUnusedRoot(root: string): void {
  if (!listNames(root).some((name) => name.startsWith(hostDirectoryPrefix))) removeHostDirectory(root);
}

/** Whether a host may be about to start in a directory. */
export function isInPreparation(directory: string): boolean {
  return Date.now() - statSync(directory).mtimeMs < startingMs;
}

function isAlive(directory: string, pid: string, start: string): boolean {
  // A host records its ownership right after making the directory, so a directory without an owner is new or abandoned.
  if (pid === '') return isInPreparation(directory);
  // Only Linux reports when a process started. Elsewhere, every owner counts as alive.
  return process.platform !== 'linux' || readStart(Number(pid)) === start;
}

/** A sandbox ends with its host, but the programs of an attempt without one outlive it. */
async function killLeftProcesses(directory: string): Promise<void> {
  const names = listNames(directory);
  for (const name of names.filter((entry) => entry.startsWith(sandboxPrefix))) {
    killSandbox(join(directory, name, initFile));
  }
  killHolders(directory);
  const attempts = names.filter((entry) => entry.startsWith('attempt-')).map((name) => join(directory, name));
  const ends = attempts.map((attempt) =>
    new AttemptProcesses({ cookie: attempt, directory: attempt, root: null }).killAll(),
  );
  await Promise.all(ends);
}

/**
 * Kills processes that have a file of a killed host open. One of them may be a bubblewrap whose host was killed while it made a
 * sandbox: it does not end with its parent yet, and waits forever for the host's answer.
 */
function killHolders(directory: string): void {
  for (const pid of listNames('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const files = listNames(`/proc/${pid}/fd`).map((descriptor) => readLink(`/proc/${pid}/fd/${descriptor}`));
    if (files.some((file) => file.startsWith(directory + sep))) killQuietly(Number(pid));
  }
}

/** Kills a sandbox whose host was killed, in case it survived. */
function killSandbox(file: string): void {
  const [pid = '', start = ''] = readText(file).split(' ');
  if (pid === '' || readStart(Number(pid)) !== start) return;
  killQuietly(Number(pid));
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') reportUnexpectedError(error);
  }
}

/** Returns the target of a link; '' if it cannot be read. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Removes a directory, even if some directories in it are not accessible to their owner. */
export function removeHostDirectory(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    openDirectories(directory);
    rmSync(directory, { recursive: true, force: true });
  }
}

function openDirectories(directory: string): void {
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) openDirectories(join(directory, entry.name));
  }
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
