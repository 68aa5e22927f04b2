import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import { type Destination, formatDestination, readAbsoluteUrl, readAuthority } from './destination.ts';
import { type Connect, checkedAddresses, connectPinned, dial } from './dial.ts';
import { checkFraming, forward } from './forward.ts';
import { asRefusal, EgressRefusal, RefusalLog } from './refusal.ts';
import { openResolver, type ResolveName } from './resolve.ts';
import { type EgressPolicy, type EgressRules, readEgressRules } from './rules.ts';

interface EgressLimits {
  /** The limit on simultaneous tunnels and requests of an attempt. */
  readonly connections: number;
  /** The time limit for lookup and connection together. */
  readonly connectMs: number;
  /** The time limit without a byte in either direction. */
  readonly idleMs: number;
  /** The same limit after one side has ended. */
  readonly halfOpenMs: number;
}

export interface EgressOptions {
  readonly resolve?: ResolveName;
  readonly connect?: Connect;
  /** Receives one plain line for each refusal or failure. */
  readonly log?: (line: string) => void;
  readonly limits?: Partial<EgressLimits>;
}

export interface Egress {
  /** Handles the server's event `connect`. */
  handleConnect(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Handles requests whose target is an absolute URL. */
  handleRequest(request: IncomingMessage, response: ServerResponse): void;
  /** Connects to a destination that the policy allows, on behalf of a program. @throws EgressRefusal */
  connect(destination: Destination, client: Duplex | ServerResponse): Promise<Socket>;
  /**
   * Returns the addresses of a destination that the policy allows, for another program of the service to connect to. @throws EgressRefusal
   */
  check(destination: Destination): Promise<readonly string[]>;
  /** Ends every connection. */
  close(): void;
}

const defaultLimits: EgressLimits = { connections: 256, connectMs: 15_000, idleMs: 120_000, halfOpenMs: 30_000 };

/** Options for the `http.Server` in front, which cuts off clients that send slow or huge requests. */
export const egressServerOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 0,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 5_000,
  insecureHTTPParser: false,
} as const;

/** Whether a request is for the proxy: its target is a URL and not a path. */
export function isProxied(request: IncomingMessage): boolean {
  return !request.url?.startsWith('/');
}

/**
 * Opens the proxy of one attempt's sandbox. It denies the machine's own addresses in addition to the policy's, because services
 * that listen on them belong to this service or to somebody else.
 * @throws RangeError that names an entry of the policy that cannot be read
 */
export function openEgress(policy: EgressPolicy, options: EgressOptions = {}): Egress {
  const rules = readEgressRules({ ...policy, denied: [...policy.denied, ...machineAddresses()] });
  return new AttemptEgress(rules, options);
}

class AttemptEgress implements Egress {
  readonly #rules: EgressRules;
  readonly #limits: EgressLimits;
  readonly #resolver: { resolve: ResolveName; close: () => void };
  readonly #connect: Connect;
  readonly #log: RefusalLog;
  readonly #open = new Map<Duplex | ServerResponse, AbortController>();
  #isClosed = false;

  constructor(rules: EgressRules, options: EgressOptions) {
    this.#rules = rules;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#resolver = options.resolve ? { resolve: options.resolve, close: () => {} } : openResolver();
    this.#connect = options.connect ?? connectPinned;
    this.#log = new RefusalLog(options.log ?? (() => {}));
  }

  handleConnect(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const refuse = (error: unknown) => refuseTunnel(socket, this.#record(request, error));
    this.#tunnel(request, socket, head).catch(refuse);
  }

  handleRequest(request: IncomingMessage, response: ServerResponse): void {
    const refuse = (error: unknown) => refuseRequest(response, this.#record(request, error));
    this.#forward(request, response, refuse).catch(refuse);
  }

  connect(destination: Destination, client: Duplex | ServerResponse): Promise<Socket> {
    return this.#dial(destination, client);
  }

  check(destination: Destination): Promise<readonly string[]> {
    return checkedAddresses(destination, this.#rules, this.#resolver.resolve);
  }

  close(): void {
    this.#isClosed = true;
    for (const [client, controller] of this.#open) {
      controller.abort();
      client.destroy();
    }
    this.#open.clear();
    this.#resolver.close();
    this.#log.close();
  }

  async #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const remote = await this.#dial(readAuthority(request.url ?? ''), socket);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) remote.write(head);
    join(socket, remote, this.#limits);
  }

  async #forward(request: IncomingMessage, response: ServerResponse, failed: (error: unknown) => void): Promise<void> {
    checkFraming(request);
    const { url, destination } = readAbsoluteUrl(request.url ?? '');
    const remote = await this.#dial(destination, response);
    forward(request, response, { url, remote, idleMs: this.#limits.idleMs, failed });
  }

  /** Dials for a client. If the client leaves meanwhile, the connection is closed. */
  async #dial(destination: Destination, client: Duplex | ServerResponse): Promise<Socket> {
    const { signal } = this.#admit(client);
    const options = {
      resolve: this.#resolver.resolve,
      connect: this.#connect,
      timeoutMs: this.#limits.connectMs,
      signal,
    };
    const remote = await dial(destination, this.#rules, options);
    if (!signal.aborted) return remote;
    remote.destroy();
    throw new EgressRefusal(502, 'failed: the client disconnected');
  }

  #admit(client: Duplex | ServerResponse): AbortController {
    if (this.#isClosed) throw new EgressRefusal(503, 'refused: the attempt has ended');
    if (this.#open.size >= this.#limits.connections)
      throw new EgressRefusal(503, 'refused: too many connections at once');
    const controller = new AbortController();
    this.#open.set(client, controller);
    client.once('close', () => {
      controller.abort();
      this.#open.delete(client);
    });
    return controller;
  }

  #record(request: IncomingMessage, error: unknown): EgressRefusal {
    const refusal = asRefusal(error);
    this.#log.add(shownTarget(request), refusal);
    return refusal;
  }
}

/** Returns the host and port of a target for the log, without its path and query, which may contain secrets. */
function shownTarget({ method, url = '' }: IncomingMessage): string {
  try {
    return formatDestination(method === 'CONNECT' ? readAuthority(url) : readAbsoluteUrl(url).destination);
  } catch {
    return 'a malformed target';
  }
}

function refuseRequest(response: ServerResponse, refusal: EgressRefusal): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(refusal.status, { 'content-type': 'text/plain', connection: 'close' }).end(`${refusal.message}\n`);
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map(({ address }) => address));
}

/** How long a refused client may take to read the reason. */
const lingerMs = 1_000;

/** Carries bytes both ways. `pipe` pauses while the other side cannot take more, so little is buffered here. */
function join(client: Duplex, remote: Socket, limits: { idleMs: number; halfOpenMs: number }): void {
  const destroyBoth = () => {
    client.destroy();
    remote.destroy();
  };
  client.on('error', destroyBoth);
  remote.on('error', destroyBoth);
  remote.setTimeout(limits.idleMs, destroyBoth);
  client.pipe(remote);
  remote.pipe(client);
  for (const side of [client, remote]) {
    // A side that has ended may wait for the other one's answer, but not for long without any bytes.
    side.once('end', () => remote.setTimeout(limits.halfOpenMs, destroyBoth));
    side.once('close', () => {
      if (!side.readableEnded || !side.writableFinished) destroyBoth();
    });
  }
}

/**
 * Answers a refused CONNECT. Go's HTTP client, which OpenTofu and its providers use, shows only the reason phrase of such an
 * answer, so the reason is repeated there.
 */
function refuseTunnel(socket: Duplex, refusal: EgressRefusal): void {
  const body = `${refusal.message}\n`;
  const head = `HTTP/1.1 ${refusal.status} ${refusal.message}\r\ncontent-type: text/plain\r\nconnection: close\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
