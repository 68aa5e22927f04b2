import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Egress, egressServerOptions, isProxied } from '../egress/egress.ts';
import { relayPort } from '../sandbox/script.ts';

/** Connections of one attempt; programs may come to the socket without the relay, which has the same bound. */
const mostConnections = 256;

/** What serves the attempt's state. */
export interface StateHandler {
  handle(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * The only way out of an attempt's sandbox: one HTTP server of the host, which the relay in the sandbox leads to. It answers
 * for the attempt's state, and forwards what the pool's policy allows. In a sandbox it is reached by a unix socket that no
 * other attempt sees; without one, by a port of the machine's loopback, where the state's password alone protects it.
 */
export class Relay {
  /** The socket to be shown to the sandbox; null without one. */
  readonly socketPath: string | null;
  /** Where the attempt's programs find it. */
  readonly origin: string;
  readonly #server: Server;
  readonly #proxy: Egress | null;

  private constructor(server: Server, socketPath: string | null, proxy: Egress | null) {
    this.#server = server;
    this.#proxy = proxy;
    this.socketPath = socketPath;
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : relayPort;
    this.origin = `http://127.0.0.1:${port}`;
  }

  static async open(options: {
    socketPath: string | null;
    state: StateHandler | null;
    proxy: Egress | null;
  }): Promise<Relay> {
    const { socketPath, state, proxy } = options;
    const server = createServer(egressServerOptions, (request, response) => {
      const isForProxy = isProxied(request);
      if (isForProxy && proxy !== null) proxy.handleRequest(request, response);
      else if (!isForProxy && state !== null) state.handle(request, response);
      else response.writeHead(isForProxy ? 403 : 404, { connection: 'close' }).end();
    });
    server.maxConnections = mostConnections;
    server.on('connect', (request, socket: Socket, head) => {
      if (proxy !== null) return proxy.handleConnect(request, socket, head);
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
    });
    server.on('clientError', (_error, socket) => socket.destroy());
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      if (socketPath === null) server.listen(0, '127.0.0.1', resolve);
      else server.listen(socketPath, resolve);
    });
    return new Relay(server, socketPath, proxy);
  }

  close(): void {
    this.#proxy?.close();
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.socketPath !== null) rmSync(this.socketPath, { force: true });
  }
}
