import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a client and a server that can fail as networks do. */
export interface TcpProxy {
  readonly port: number;
  /** Decides about data from clients: pass it on, pass it on and then cut the connection, or cut the connection first. */
  watch(onClientData: ((data: Buffer) => 'pass' | 'cut after' | 'cut before') | null): void;
  /** Cuts all connections and refuses new ones until `open`. */
  shut(): void;
  open(): void;
  /** Accepts connections and data but answers nothing until `open`. */
  mute(): void;
  close(): Promise<void>;
}

export async function startProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let watcher: ((data: Buffer) => 'pass' | 'cut after' | 'cut before') | null = null;
  let state: 'open' | 'shut' | 'mute' = 'open';

  const server = createServer((client) => {
    if (state === 'shut') return void client.destroy();
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined); // a broken side closes, which closes the other side
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (data) => {
      const verdict = watcher?.(data) ?? 'pass';
      if (verdict !== 'cut before' && state !== 'mute') upstream.write(data);
      if (verdict === 'pass') return;
      client.destroy();
      // The server receives the data and carries it out, but its answer is lost.
      upstream.end();
    });
    upstream.on('data', (data) => state !== 'mute' && client.write(data));
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    watch: (onClientData) => {
      watcher = onClientData;
    },
    shut: () => {
      state = 'shut';
      cutAll();
    },
    open: () => {
      if (state === 'mute') cutAll();
      state = 'open';
    },
    mute: () => {
      state = 'mute';
    },
    close: async () => {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
