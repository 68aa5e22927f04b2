import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ProcessEntry } from '../programs/start.ts';

/** Another user of the same machine, without an account and without rights. */
export const stranger = { uid: 65_533, gid: 65_533 };

/** The result of an attempt to connect to a server. Any other text is the code of an error. */
export type Answer = 'answered' | 'closed' | 'silent' | (string & {});

const knock = `
const { connect } = require('node:net');
const greeting = Buffer.concat([Buffer.from('PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]);
const knock = (target) => new Promise((resolve) => {
  const socket = connect(typeof target === 'number' ? { host: '127.0.0.1', port: target } : { path: target });
  socket.setTimeout(3000, () => resolve('silent'));
  socket.once('connect', () => socket.write(greeting));
  socket.once('data', () => resolve('answered'));
  socket.once('close', () => resolve('closed'));
  socket.once('error', ({ code }) => resolve(code === 'ECONNRESET' || code === 'EPIPE' ? 'closed' : code));
});
Promise.all(JSON.parse(process.argv[1]).map(knock)).then((answers) => { console.log(JSON.stringify(answers)); process.exit(); });
`;

/** Speaks HTTP/2 to loopback ports and Unix sockets, as another user or as this process's user. */
export async function knockAt(
  targets: readonly (number | string)[],
  user: { uid: number; gid: number } | null,
): Promise<Answer[]> {
  const given = ['--input-type=commonjs', '--eval', knock, JSON.stringify(targets)];
  const { stdout } = await promisify(execFile)(process.execPath, given, { ...user, cwd: '/', timeout: 30_000 });
  return JSON.parse(stdout);
}

/** The TCP ports of this machine on which the processes listen. */
export function listeningPorts(processes: readonly ProcessEntry[]): number[] {
  const inodes = new Set(processes.flatMap(({ pid }) => socketsOf(pid)));
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) =>
    readFileSync(path, 'utf8').trim().split('\n').slice(1),
  );
  const ports = lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    return state === '0A' && inodes.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
  return ports.sort((a, b) => a - b);
}

/** The real, effective, saved and file-system user ids of a process; empty where it has ended. */
export function usersOf(pid: number): number[] {
  return orNone(() => {
    const [, ids = ''] = /^Uid:\s+(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return ids.split(/\s+/).map(Number);
  });
}

function socketsOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  const names = orNone(() => readdirSync(directory));
  return names.flatMap((name) =>
    orNone(() => /^socket:\[(\d+)\]$/.exec(readlinkSync(`${directory}/${name}`))?.slice(1) ?? []),
  );
}

/** Reads about a process; answers nothing where it has ended in the meantime. */
function orNone<Value>(read: () => Value[]): Value[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return [];
    throw error;
  }
}
