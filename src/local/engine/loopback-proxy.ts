import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { endianness } from 'node:os';

/** A listener on loopback that forwards connections to a socket. */
type LoopbackProxy = {
  /** host:port */
  readonly address: string;
  readonly close: () => Promise<void>;
};

/**
 * Listens on loopback and forwards the connections of these users to the socket. It closes the connections of all other
 * users before it reads a byte.
 */
export async function openLoopbackProxy(socketPath: string, users: ReadonlySet<number>): Promise<LoopbackProxy> {
  const open = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    if (!isAllowed(client, users)) return void client.destroy();
    connectSides(client, connect(socketPath), open);
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the loopback proxy of Temporal has no port');
  return {
    address: `127.0.0.1:${address.port}`,
    close: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

function isAllowed(client: Socket, users: ReadonlySet<number>): boolean {
  const { localAddress, localPort, remoteAddress, remotePort } = client;
  if (!localAddress || !localPort || !remoteAddress || !remotePort) return false;
  const user = findPeerUser({ localAddress, localPort, remoteAddress, remotePort });
  return user !== null && users.has(user);
}

/** Forwards the bytes of each side to the other. When one side ends, so does the other. */
function connectSides(client: Socket, server: Socket, open: Set<Socket>): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    open.add(from);
    from.on('error', () => undefined); // the close event follows and ends the other side
    from.once('close', () => {
      open.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}

/** The addresses and ports of an IPv4 connection on this machine, as one side sees them. */
type Connection = {
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
function findPeerUser(connection: Connection): number | null {
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
