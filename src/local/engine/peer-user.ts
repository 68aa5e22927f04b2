import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

/** The four numbers that name a connection over IPv4 on this machine, as the one side sees it. */
export type Connection = {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
};

/** The kernel's number for a connection that is open at both ends. */
const established = '01';

/**
 * The user who opened the other end of a connection over loopback. The kernel lists both ends with their owners, and
 * nobody can open a connection in another user's name. Null where the list has no open connection like it.
 */
export function findPeerUser(connection: Connection): number | null {
  const peer = toHex(connection.remoteAddress, connection.remotePort);
  const own = toHex(connection.localAddress, connection.localPort);
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    // sl, local, remote, state, queues, timer, retransmits, uid, timeout, inode
    const [, local, remote, state, , , , uid, , inode] = line.trim().split(/\s+/);
    if (local === peer && remote === own && state === established && inode !== '0') return Number(uid);
  }
  return null;
}

/** As /proc/net/tcp writes it: the address as one number in the machine's own order of bytes. */
function toHex(address: string, port: number): string {
  const bytes = Buffer.from(address.split('.').map(Number));
  const ordered = endianness() === 'LE' ? bytes.reverse() : bytes;
  return `${ordered.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
