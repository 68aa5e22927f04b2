import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether an address is one of this machine's own, which all of its users and programs share. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/**
 * The id of the operating system's user whose program has opened a connection from this machine, as Linux lists it. Undefined
 * where that cannot be known: on another system, or if the connection is closed by now.
 */
export async function findLocalUser({ remoteAddress, remotePort, localPort }: Socket): Promise<string | undefined> {
  if (remoteAddress === undefined || remotePort === undefined || localPort === undefined) return undefined;
  const address = ipaddr.process(remoteAddress);
  const own = [remotePort, localPort].map((port) => port.toString(16).toUpperCase().padStart(4, '0'));
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable));
  for (const line of tables.join('\n').split('\n')) {
    const [, local = '', remote = '', , , , , user] = line.trim().split(/\s+/);
    const [host = '', port] = local.split(':');
    if (port === own[0] && remote.endsWith(`:${own[1]}`) && isSameHost(host, address)) return user;
  }
  return undefined;
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
