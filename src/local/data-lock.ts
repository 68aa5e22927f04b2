import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, StartError } from './errors.ts';

/** On some systems, the address of a socket has at most 104 bytes. */
const maxSocketPath = 100;

/**
 * Locks a data directory for this process. The lock is a socket that the process listens on, so that it ends with the
 * process, even if the process is killed.
 * @returns a function that releases the lock
 * @throws StartError if another process holds the lock
 */
export async function lockDataDirectory(dataDir: string): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.on('error', () => {}).end(String(process.pid)));
  if (process.platform === 'linux') await listen(server, abstractName(dataDir), dataDir);
  else await listenOnFile(server, dataDir);
  server.unref();
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

/** The name of an abstract socket. The kernel frees it as soon as its holder ends. */
function abstractName(dataDir: string): string {
  return `\0delivery-coordinator-${createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32)}`;
}

/** On other systems, a socket is a file. It remains when its holder is killed, and then another process must take it over. */
async function listenOnFile(server: Server, dataDir: string): Promise<void> {
  const path = socketPath(dataDir);
  const isTakeover = existsSync(path);
  if (isTakeover) await removeAbandoned(path, dataDir);
  await listen(server, path, dataDir);
  if (isTakeover) await confirmTakeover(path, dataDir);
}

/**
 * Removes the socket of a holder that has ended. It is first renamed and tested again, because another process may have taken it over
 * meanwhile; in that case, it gets its name back.
 */
async function removeAbandoned(path: string, dataDir: string): Promise<void> {
  const holder = await readHolder(path);
  if (holder !== null) throw inUse(dataDir, holder);
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  const successor = await readHolder(aside);
  if (successor === null) return rmSync(aside, { force: true });
  renameSync(aside, path);
  throw inUse(dataDir, successor);
}

function socketPath(dataDir: string): string {
  const path = join(dataDir, 'start.sock');
  if (Buffer.byteLength(path) <= maxSocketPath) return path;
  return join(tmpdir(), `coordinator-${createHash('sha256').update(dataDir).digest('hex').slice(0, 24)}.sock`);
}

async function listen(server: Server, path: string, dataDir: string): Promise<void> {
  try {
    server.listen(path);
    await once(server, 'listening');
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) throw inUse(dataDir, await readHolder(path));
    throw error;
  }
}

/** Two processes may have found the same abandoned socket. The one whose socket was replaced gives up. */
async function confirmTakeover(path: string, dataDir: string): Promise<void> {
  await delay(100);
  const holder = await readHolder(path);
  if (holder !== String(process.pid)) throw inUse(dataDir, holder);
}

/** The process id of the holder; null if no process listens. */
async function readHolder(path: string): Promise<string | null> {
  const socket = connect(path);
  socket.setTimeout(2000, () => socket.destroy());
  try {
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer;
  } catch (error) {
    if (hasCode(error, 'ECONNREFUSED') || hasCode(error, 'ENOENT') || hasCode(error, 'ENOTSOCK')) return null;
    throw error;
  }
}

function inUse(dataDir: string, holder: string | null): StartError {
  const process = holder ? ` (process ${holder})` : '';
  return new StartError(
    `A coordinator${process} already runs on ${dataDir}: stop it, or choose another directory with COORDINATOR_DATA_DIR.`,
  );
}
