import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { findPeerUser } from './peer-user.ts';

/** A listener on loopback before a socket that only this process's user and the account can open. */
export type Front = {
  /** host:port */
  readonly address: string;
  readonly close: () => Promise<void>;
};

/**
 * Listens on loopback and hands on the connections of these users to the socket. Every other user's connection is cut
 * before a byte of it is read.
 */
export async function openFront(socketPath: string, users: ReadonlySet<number>): Promise<Front> {
  const open = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    if (!isAllowed(client, users)) return void client.destroy();
    join(client, connect(socketPath), open);
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the front of the engine has no port');
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

/** What one side sends, the other gets. The end of one side is the end of both. */
function join(client: Socket, server: Socket, open: Set<Socket>): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    open.add(from);
    from.on('error', () => undefined); // whichever side breaks, the other is told by its close
    from.once('close', () => {
      open.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}
