import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { codeOf, reportUnforeseen } from '../attempt/attempt-error.ts';
import { AttemptProcesses } from '../processes/attempt-processes.ts';
import { readStart } from '../processes/process-table.ts';
import { initFile, sandboxPrefix } from '../sandbox/sandbox.ts';

/**
 * Directories of hosts. Each names the process that owns it, so that a later host of the same user can tell one that was
 * killed from one that lives. Only hosts remove them: they may touch nothing but what is their user's.
 */

const ownerFile = 'owner';
const prefix = 'host-';

export function newHostDirectory(root: string): string {
  return join(root, `${prefix}${randomBytes(8).toString('hex')}`);
}

/** Says whose a directory is: the process's number, when it started, and where its sockets are. */
export function claimDirectory(directory: string, socketDirectory: string): void {
  const owner = [process.pid, readStart(process.pid), socketDirectory].join(' ');
  writeFileSync(join(directory, ownerFile), owner, { mode: 0o600 });
}

/** Ends and removes what killed hosts left below a directory. Answers how many there were. */
export async function removeForsaken(root: string): Promise<number> {
  let removed = 0;
  for (const name of listNames(root).filter((entry) => entry.startsWith(prefix))) {
    const directory = join(root, name);
    const [pid = '', start = '', ...sockets] = readText(join(directory, ownerFile)).split(' ');
    if (isAlive(directory, pid, start)) continue;
    try {
      await endProcesses(directory);
      removeHostDirectory(directory);
      if (sockets.length > 0) removeHostDirectory(sockets.join(' '));
      removed++;
    } catch (error) {
      // Another user's, from when the host ran as another one: for people to remove.
      reportUnforeseen(error);
    }
  }
  return removed;
}

function isAlive(directory: string, pid: string, start: string): boolean {
  // A host says whose its directory is right after making it: without that, it is a moment old, or was left in that moment.
  if (pid === '') return Date.now() - statSync(directory).mtimeMs < 60_000;
  // Elsewhere than on Linux nobody can tell.
  return process.platform !== 'linux' || readStart(Number(pid)) === start;
}

/** A sandbox ends with its host. Without one, the programs of an attempt outlive it. */
async function endProcesses(directory: string): Promise<void> {
  const names = listNames(directory);
  for (const name of names.filter((entry) => entry.startsWith(sandboxPrefix))) {
    endSandbox(join(directory, name, initFile));
  }
  endHolders(directory);
  const attempts = names.filter((entry) => entry.startsWith('attempt-')).map((name) => join(directory, name));
  const ends = attempts.map((attempt) =>
    new AttemptProcesses({ cookie: attempt, directory: attempt, root: null }).killAll(),
  );
  await Promise.all(ends);
}

/**
 * Ends processes that have a file of a killed host open. Bubblewrap is such a one where its host was killed in the moment in
 * which it makes a sandbox: it does not end with its parent yet, and waits for good for a word that nobody will say.
 */
function endHolders(directory: string): void {
  for (const pid of listNames('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const files = listNames(`/proc/${pid}/fd`).map((descriptor) => readLink(`/proc/${pid}/fd/${descriptor}`));
    if (files.some((file) => file.startsWith(directory + sep))) killQuietly(Number(pid));
  }
}

/** Ends a sandbox whose host was killed, should it have found a way to live on. */
function endSandbox(file: string): void {
  const [pid = '', start = ''] = readText(file).split(' ');
  if (pid === '' || readStart(Number(pid)) !== start) return;
  killQuietly(Number(pid));
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') reportUnforeseen(error);
  }
}

/** Where a link leads; '' where that cannot be told. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Also where directories were closed to their owner. */
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
