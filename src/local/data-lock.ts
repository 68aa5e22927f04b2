import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, StartError } from './errors.ts';

/** A socket's address takes 104 bytes at most on some systems. */
const longestSocketPath = 100;

/**
 * Makes this process the only one that starts on a data directory, until it ends in whatever way: the lock is a socket
 * on which it listens, so nothing is left to be mistaken for a living holder.
 * @throws StartError when another process holds it
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

/** A name that the kernel knows and no file system: it is free in the moment in which its holder ends. */
function abstractName(dataDir: string): string {
  return `\0delivery-coordinator-${createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32)}`;
}

/** Elsewhere a socket is a file, which stays when its holder is killed and has to be taken over. */
async function listenOnFile(server: Server, dataDir: string): Promise<void> {
  const path = socketPath(dataDir);
  const isTakeover = existsSync(path);
  if (isTakeover) await removeAbandoned(path, dataDir);
  await listen(server, path, dataDir);
  if (isTakeover) await confirm(path, dataDir);
}

/** Aside first: what was taken away turns out to be alive where another process has just taken over itself. */
async function removeAbandoned(path: string, dataDir: string): Promise<void> {
  const holder = await askHolder(path);
  if (holder !== null) throw inUse(dataDir, holder);
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  const successor = await askHolder(aside);
  if (successor === null) return rmSync(aside, { force: true });
  renameSync(aside, path);
  throw inUse(dataDir, successor);
}

function socketPath(dataDir: string): string {
  const path = join(dataDir, 'start.sock');
  if (Buffer.byteLength(path) <= longestSocketPath) return path;
  return join(tmpdir(), `coordinator-${createHash('sha256').update(dataDir).digest('hex').slice(0, 24)}.sock`);
}

async function listen(server: Server, path: string, dataDir: string): Promise<void> {
  try {
    server.listen(path);
    await once(server, 'listening');
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) throw inUse(dataDir, await askHolder(path));
    throw error;
  }
}

/** Two processes may have found the same abandoned socket; the one whose socket was replaced gives way. */
async function confirm(path: string, dataDir: string): Promise<void> {
  await delay(100);
  const holder = await askHolder(path);
  if (holder !== String(process.pid)) throw inUse(dataDir, holder);
}

/** The holder's process id; null when nobody listens. */
async function askHolder(path: string): Promise<string | null> {
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
    `A coordinator${process} already runs on ${dataDir}: stop it, or give another directory with COORDINATOR_DATA_DIR.`,
  );
}
