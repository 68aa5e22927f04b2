import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, StartError } from '../errors.ts';

/**
 * Stops a server that still runs on this cluster because an earlier `start` was killed, and removes its lock file. If there is no such
 * server, the lock file is stale: its process id may now belong to another program, which PostgreSQL would mistake for a server.
 * @throws StartError if the server does not stop
 */
export async function stopOrphanedPostgres(cluster: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  const pid = readPid(lockFile);
  if (pid === null) return;
  // The watchdog of the earlier start may be stopping it now. So ask first, then force it.
  for (const [signal, seconds] of [
    ['SIGINT', 20],
    ['SIGQUIT', 5],
  ] as const) {
    if (isPostgresOf(pid, cluster)) send(pid, signal);
    if (await waitUntil(() => !isPostgresOf(pid, cluster), seconds)) {
      rmSync(lockFile, { force: true });
      return;
    }
  }
  throw new StartError(`PostgreSQL (process ${pid}) still uses ${cluster}: stop it, then start again.`);
}

function readPid(lockFile: string): number | null {
  if (!existsSync(lockFile)) return null;
  const pid = Number.parseInt(readFileSync(lockFile, 'utf8'), 10);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : null;
}

function isPostgresOf(pid: number, cluster: string): boolean {
  const listing = spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  const commandLine = existsSync('/proc/self/cmdline') ? readCommandLine(pid) : (listing.stdout ?? '');
  return commandLine.includes('postgres') && commandLine.includes(cluster);
}

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // There is no such process.
    return '';
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

async function waitUntil(isTrue: () => boolean, seconds: number): Promise<boolean> {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await delay(50)) {
    if (isTrue()) return true;
  }
  return isTrue();
}
