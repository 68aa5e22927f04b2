import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { promisify } from 'node:util';
import { type EgressOptions, egressServerOptions, isProxied, openEgress } from '#executors/egress/egress.ts';
import type { EgressPolicy } from '#executors/egress/rules.ts';

const run = promisify(execFile);

/** Returns what curl prints: the body, and the status in the last line. */
export async function curl(proxyPort: number, url: string, ...more: string[]): Promise<string> {
  const asked = [
    '-sS',
    '-x',
    `http://127.0.0.1:${proxyPort}`,
    '-w',
    '\n%{http_code}',
    '--max-time',
    '20',
    ...more,
    url,
  ];
  const { stdout } = await run('curl', asked).catch((error) => ({ stdout: `${error.stderr}${error.stdout}` }));
  return stdout;
}

const opened: (() => void)[] = [];

export function closeAll(): void {
  for (const close of opened.splice(0)) close();
}

export interface Proxy {
  readonly port: number;
  readonly server: Server;
  readonly lines: string[];
  close(): void;
}

/** Starts a proxy behind a server of its own, as the executor host does for each attempt. */
export async function startProxy(
  policy: Partial<EgressPolicy>,
  options: EgressOptions = {},
  listenOn?: string,
): Promise<Proxy> {
  const lines: string[] = [];
  const given = { policy: 'allow' as const, allow: ['127.0.0.1'], denied: [], ...policy };
  const egress = openEgress(given, { log: (line) => lines.push(line), ...options });
  const server = createServer(egressServerOptions, (request, response) => {
    if (isProxied(request)) egress.handleRequest(request, response);
    else response.end('state');
  });
  server.on('connect', (request, socket, head) => egress.handleConnect(request, socket, head));
  await listen(server, listenOn);
  opened.push(() => {
    egress.close();
    server.closeAllConnections();
    server.close();
  });
  return { port: listenOn === undefined ? portOf(server) : 0, server, lines, close: () => egress.close() };
}

export async function startWeb(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ port: number; origin: string }> {
  const server = createServer(handle);
  await listen(server);
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: portOf(server), origin: `http://127.0.0.1:${portOf(server)}` };
}

export interface TcpPeer {
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
  /** How many connections it has accepted. */
  readonly seen: number;
  close(): void;
}

export async function startTcp(handle: (socket: Socket) => void, allowHalfOpen = false): Promise<TcpPeer> {
  const sockets = new Set<Socket>();
  let seen = 0;
  const server = createTcpServer({ allowHalfOpen }, (socket) => {
    seen += 1;
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
    handle(socket);
  });
  await listen(server);
  const port = portOf(server);
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  opened.push(close);
  return {
    port,
    sockets,
    close,
    get seen() {
      return seen;
    },
  };
}

/** Opens a raw client. With `keepsHalf`, it stays open when the proxy closes its half. */
export function openRaw(
  port: number,
  keepsHalf = false,
): { socket: Socket; seen: () => string; closed: Promise<string> } {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: keepsHalf });
  const chunks: Buffer[] = [];
  const seen = () => Buffer.concat(chunks).toString('latin1');
  opened.push(() => socket.destroy());
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  return { socket, seen, closed: new Promise((resolve) => socket.once('close', () => resolve(seen()))) };
}

/** Sends bytes and reads everything until the proxy closes, or ends, the connection. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const { socket, closed } = openRaw(port);
  socket.write(bytes, 'latin1');
  return await closed;
}

function listen(server: Server | TcpServer, path?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    if (path === undefined) server.listen(0, '127.0.0.1', resolve);
    else server.listen(path, resolve);
  });
}

function portOf(server: Server | TcpServer): number {
  return (server.address() as AddressInfo).port;
}
