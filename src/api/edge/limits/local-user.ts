import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether an address is one of this machine's own, which all of its users and programs share. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** The kernel's code for an established connection. */
const established = '01';

/**
 * The id of the operating system's user whose program opened a connection from this machine, according to Linux. Undefined on other
 * systems, or if the program has closed its end: Linux then lists that end without its owner, as if it were root's.
 */
export async function findLocalUser(socket: Socket): Promise<string | undefined> {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (!remoteAddress || !remotePort || !localAddress || !localPort) return undefined;
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable));
  for (const line of tables.join('\n').split('\n')) {
    // sl, local, remote, state, queues, timer, retransmits, uid, timeout, inode
    const [, local = '', remote = '', state, , , , user, , inode] = line.trim().split(/\s+/);
    if (state !== established || inode === '0') continue;
    if (isEnd(local, remoteAddress, remotePort) && isEnd(remote, localAddress, localPort)) return user;
  }
  return undefined;
}

/** Whether an end of a connection, as Linux lists it, has this address and port. */
function isEnd(listed: string, address: string, port: number): boolean {
  const [host = '', listedPort = ''] = listed.split(':');
  return Number.parseInt(listedPort, 16) === port && isSameHost(host, ipaddr.process(address));
}

async function readTable(path: string): Promise<string> {
  return readFile(path, 'latin1').catch(() => ''); // Only Linux has these tables.
}

/** Linux writes addresses in words of four bytes, the last byte first. IPv6 may hold an address of IPv4. */
function isSameHost(host: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const words = host.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => [...Buffer.from(word, 'hex')].reverse());
  if (bytes.length !== 4 && bytes.length !== 16) return false;
  const listed = ipaddr.fromByteArray(bytes);
  const plain = listed instanceof ipaddr.IPv6 && listed.isIPv4MappedAddress() ? listed.toIPv4Address() : listed;
  return plain.toString() === address.toString();
}
