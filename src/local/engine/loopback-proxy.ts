import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { findPeerUser } from './peer-user.ts';

/** A listener on loopback that forwards connections to a socket. */
export type LoopbackProxy = {
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
