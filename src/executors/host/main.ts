import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { codeOf, reportUnexpectedError } from '../shared/errors.ts';
import { HostServer } from './host-server.ts';

/**
 * The executor host: each worker has one, and it starts sandboxes and nothing else. It has no keys, no database and no
 * engine, runs as a user of its own if the worker can choose one, and lives as long as the pipe at descriptor 3.
 *
 * Arguments: the user id and group id to switch to, if the worker could not start it with them.
 */

const pipeDescriptor = 3;

/**
 * Closes descriptors that the worker's ancestors left open. Descriptors that Node opened are marked close-on-exec and so do not
 * reach other programs. Only Linux shows that mark.
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
      // The descriptor that listed the directory is already closed.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** Everything is loaded by now, so the service's files need not be readable any more. */
function dropPrivileges(uid: number, gid: number): void {
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid || process.getegid?.() !== gid) {
    throw new Error('the executor host could not switch its user');
  }
}

const [uid, gid] = process.argv.slice(2).map(Number);
// Ctrl-C, and supervisors that signal all processes, mean the worker, which then ends its host.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.umask(0o077);
closeStrayDescriptors();
// Saves the compiled code now: a host is often killed, and its own user must not write into the cache.
flushCompileCache();
if (uid !== undefined && gid !== undefined && process.getuid?.() !== uid) dropPrivileges(uid, gid);
process.on('uncaughtException', (error) => {
  reportUnexpectedError(error);
  process.exit(1);
});
new HostServer(new Socket({ fd: pipeDescriptor, readable: true, writable: true }));
