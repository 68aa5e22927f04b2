import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { findAttemptProcesses } from './process-table.ts';
import type { ExecutorUser } from './protocol.ts';

/** Who an executor runs as. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  /** Whether no other attempt on this machine has it, so that all its processes are this attempt's. */
  readonly isIsolated: boolean;
  release(): void;
}

/** Kept by convention for users that exist as long as a service does, and below what containers map. */
const firstUid = 61_184;
const lastUid = 65_519;
const nobody = 65_534;
const tries = 200;

/** The identity for one attempt. @throws Error where none is free */
export async function takeIdentity(user: ExecutorUser | null | undefined): Promise<Identity> {
  const own = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
  const isRoot = own.uid === 0;
  if (isRoot && process.platform === 'linux' && (!user || user.uid === nobody)) return claimIdentity();
  return { ...(user ?? own), isIsolated: false, release: () => undefined };
}

/** Whether a user id is one of those that attempts get for themselves. */
export function isIsolatedUid(uid: number): boolean {
  return uid >= firstUid && uid <= lastUid;
}

/** Claimed by a name that the kernel gives up when this process ends, however it does; a leftover process keeps it taken. */
async function claimIdentity(): Promise<Identity> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const uid = randomInt(firstUid, lastUid + 1);
    const claim = await listenOn(`\0delivery-coordinator-uid-${uid}`);
    if (claim === null) continue;
    const mark = { cookie: '', isolatedUid: uid, directory: null, executorPid: null };
    if (findAttemptProcesses(mark).size === 0) return { uid, gid: uid, isIsolated: true, release: () => claim.close() };
    claim.close();
  }
  throw new Error('no free user for an attempt was found');
}

function listenOn(path: string): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer((connection) => connection.destroy());
    server.once('error', () => resolve(null));
    server.listen(path, () => resolve(server.unref()));
  });
}
