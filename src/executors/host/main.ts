import { Socket } from 'node:net';
import { reportUnforeseen } from './attempt-error.ts';
import { HostServer } from './host-server.ts';

/**
 * The executor host: one process beside each worker, which starts sandboxes and nothing else. It has no key, no database and
 * no engine, runs as a user of its own where the worker may choose one, and lives as long as the pipe at descriptor 3.
 *
 * Arguments: the user and the group to become, where the worker could not start it as such.
 */

const pipeDescriptor = 3;

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
if (uid !== undefined && gid !== undefined && process.getuid?.() !== uid) dropPrivileges(uid, gid);
process.on('uncaughtException', (error) => {
  reportUnforeseen(error);
  process.exit(1);
});
new HostServer(new Socket({ fd: pipeDescriptor, readable: true, writable: true }));
