import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

/** The addresses and ports of an IPv4 connection on this machine, as one side sees them. */
export type Connection = {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
};

/** The kernel's code for an established connection. */
const established = '01';

/**
 * Finds the user who opened the other end of a loopback connection. The kernel lists both ends with their owners, and a
 * user cannot open a connection in another user's name.
 * @returns null if the kernel lists no such established connection
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

/** Formats an address as /proc/net/tcp does: a number in the byte order of the machine, and the port. */
function toHex(address: string, port: number): string {
  const bytes = Buffer.from(address.split('.').map(Number));
  const ordered = endianness() === 'LE' ? bytes.reverse() : bytes;
  return `${ordered.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
