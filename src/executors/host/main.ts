import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { codeOf, reportUnforeseen } from '../attempt/attempt-error.ts';
import { HostServer } from './host-server.ts';

/**
 * The executor host: one process beside each worker, which starts sandboxes and nothing else. It has no key, no database and
 * no engine, runs as a user of its own where the worker may choose one, and lives as long as the pipe at descriptor 3.
 *
 * Arguments: the user and the group to become, where the worker could not start it as such.
 */

const pipeDescriptor = 3;

/**
 * Closes what a program further up left open for its children. What Node itself opens is not passed on when a program is
 * started; only Linux tells which is which.
 */
function closeStrayDescriptors(): void {
  if (process.platform !== 'linux') return;
  const closesOnExec = 0o2000000;
  for (const descriptor of readdirSync('/proc/self/fdinfo').map(Number)) {
    if (descriptor <= pipeDescriptor) continue;
    try {
      const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
      const flags = Number.parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? '0', 8);
      if ((flags & closesOnExec) === 0) closeSync(descriptor);
    } catch (error) {
      // The descriptor by which the list itself was read is gone by now.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** Everything is loaded by now: from here on nothing of the service's needs to be readable. */
function dropPrivileges(uid: number, gid: number): void {
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid || process.getegid?.() !== gid) {
    throw new Error('the executor host could not change its user');
  }
}

const [uid, gid] = process.argv.slice(2).map(Number);
// Ctrl-C, and a supervisor that signals all processes, mean the worker: it tells its host what to do.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.umask(0o077);
closeStrayDescriptors();
if (uid !== undefined && gid !== undefined && process.getuid?.() !== uid) dropPrivileges(uid, gid);
process.on('uncaughtException', (error) => {
  reportUnforeseen(error);
  process.exit(1);
});
new HostServer(new Socket({ fd: pipeDescriptor, readable: true, writable: true }));
