import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { StateHandler } from '../attempt/attempt.ts';
import { type Egress, egressServerOptions, isProxied } from '../egress/egress.ts';
import { ModuleGate } from '../modules/module-gate.ts';
import { relayPort } from '../sandbox/script.ts';

/** Connections of one attempt. The relay has the same limit, but programs can reach the socket without it. */
const maxConnections = 256;

/**
 * The only way out of an attempt's sandbox: an HTTP server of the host, which the relay in the sandbox connects to. It serves the
 * attempt's state, and forwards what the pool's policy allows. A sandbox reaches it through a unix socket that no other attempt
 * sees. Without a sandbox it listens on the machine's loopback, where only a password protects the state.
 */
export class Relay {
  /** The unix socket to mount in the sandbox; null without one. */
  readonly socketPath: string | null;
  /** The origin at which the attempt's programs reach it. */
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
    /** Serves private modules, while `init` runs. */
    modules?: () => ModuleGate | null;
    proxy: Egress | null;
  }): Promise<Relay> {
    const { socketPath, state, proxy, modules = () => null } = options;
    const server = createServer(egressServerOptions, (request, response) => {
      const isForProxy = isProxied(request);
      if (isForProxy && proxy !== null) proxy.handleRequest(request, response);
      else if (ModuleGate.isFor(request)) answerForModules(modules(), request, response);
      else if (!isForProxy && state !== null) state.handle(request, response);
      else refuse(response, isForProxy ? 403 : 404);
    });
    server.maxConnections = maxConnections;
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

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { connection: 'close' }).end();
}

function answerForModules(gate: ModuleGate | null, request: IncomingMessage, response: ServerResponse): void {
  if (gate === null) refuse(response, 404);
  else gate.handle(request, response);
}
