import { isIPv6 } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { ServiceError } from '../errors.ts';
import { checkOutbound, pinTo, type Resolve } from './outbound.ts';
import type { OutboundPolicy } from './outbound-policy.ts';

export interface OutboundRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'HEAD';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The limit from the first packet to the last byte of the answer; by default 15,000. */
  readonly timeoutMs?: number;
  /** How much of the answer's body is read; by default 64 KiB. The rest is ignored. */
  readonly maxBytes?: number;
  /** Certificates in PEM that are trusted in addition to the public authorities. */
  readonly certificates?: string;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The body was longer than `maxBytes`. */
  readonly isCut: boolean;
}

/**
 * Why a request got no answer, as a message for the person who configured the address. It never contains an address to which a host
 * resolved.
 */
export class OutboundFailure extends Error {
  readonly reason: 'refused' | 'unresolved' | 'unreachable' | 'certificate' | 'timed_out' | 'broken_off';

  constructor(reason: OutboundFailure['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'OutboundFailure';
    this.reason = reason;
  }
}

const connectTimeoutMs = 10_000;
const standardTimeoutMs = 15_000;
const standardMostBytes = 64 * 1024;
/** How many connections a client may have to one host. */
const connectionsPerHost = 8;
/**
 * Each set of certificates has connections of its own. The number of sets is limited, because the configuration of connections can name any
 * number.
 */
const maxAgents = 32;

/**
 * Sends requests to addresses that a client of the service has configured. Each connection is checked when it is dialled: the name is
 * resolved, each of its addresses must be allowed, and the socket connects to those addresses alone. So a name that resolves to a forbidden
 * address after it was saved is refused. Redirects are not followed, and the machine's proxy settings are ignored.
 */
export class OutboundHttp {
  readonly #policy: OutboundPolicy;
  readonly #resolve: Resolve | undefined;
  readonly #connections: number | null;
  /** The agents by the certificates that they trust, the most recently used one last. */
  readonly #agents = new Map<string, Agent>();

  /**
   * @param options `connections`: how many connections it may open to one host; null: one for each request, so the caller must limit
   * requests
   */
  constructor(policy: OutboundPolicy, options: { resolve?: Resolve; connections?: number | null } = {}) {
    this.#policy = policy;
    this.#connections = options.connections === undefined ? connectionsPerHost : options.connections;
    this.#resolve = options.resolve;
  }

  /** @throws OutboundFailure if there was no whole answer; its `reason` says why */
  async send(request: OutboundRequest): Promise<OutboundAnswer> {
    const signal = AbortSignal.timeout(request.timeoutMs ?? standardTimeoutMs);
    try {
      // undici notices the timeout only once it is connected, and a host may never finish the TLS handshake.
      return await Promise.race([this.#exchange(request, signal), rejectOnAbort(signal)]);
    } catch (error) {
      throw describeFailure(error, signal);
    }
  }

  async #exchange(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    const answer = await this.#agentFor(request.certificates ?? '').request({
      ...locate(request.url),
      method: request.method,
      headers: { ...request.headers },
      body: request.body ?? null,
      signal,
    });
    const { body, isCut } = await readSome(answer.body, request.maxBytes ?? standardMostBytes);
    return { status: answer.statusCode, headers: joinHeaders(answer.headers), body, isCut };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
    this.#agents.clear();
  }

  /** Connections of requests that trust other certificates are never shared. */
  #agentFor(certificates: string): Agent {
    const agent = this.#agents.get(certificates) ?? this.#makeAgent(certificates);
    this.#agents.delete(certificates);
    this.#agents.set(certificates, agent);
    const [oldest] = this.#agents;
    if (oldest && this.#agents.size > maxAgents) {
      const [key, unused] = oldest;
      this.#agents.delete(key);
      // Closing lets the running requests of the agent finish first.
      void unused.close();
    }
    return agent;
  }

  #makeAgent(certificates: string): Agent {
    return new Agent({
      connections: this.#connections,
      connect: (options, done) => {
        this.#dial(options, certificates).then(
          ({ connect, to }) => connect(to, done),
          (error) => done(error, null),
        );
      },
    });
  }

  async #dial(to: buildConnector.Options, certificates: string) {
    const port = to.port ? `:${to.port}` : '';
    const host = isIPv6(to.hostname) ? `[${to.hostname}]` : to.hostname;
    const { addresses } = await checkOutbound(`${to.protocol}//${host}${port}`, this.#policy, {
      ...(this.#resolve && { resolve: this.#resolve }),
    });
    const connect = buildConnector({
      timeout: connectTimeoutMs,
      autoSelectFamily: true,
      lookup: pinTo(addresses),
      ...(certificates !== '' && { ca: certificates }),
    });
    return { connect, to };
  }
}

/** Never resolves. @throws the reason of the signal once it is aborted */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function locate(text: string): { origin: string; path: string } {
  const url = new URL(text);
  return { origin: url.origin, path: `${url.pathname}${url.search}` };
}

async function readSome(stream: Dispatcher.ResponseData['body'], maxBytes: number) {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    parts.push(part);
    length += part.length;
    if (length > maxBytes) break;
  }
  return { body: Buffer.concat(parts).subarray(0, maxBytes), isCut: length > maxBytes };
}

function joinHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')]],
  );
  return Object.fromEntries(entries);
}

function describeFailure(error: unknown, signal: AbortSignal): OutboundFailure {
  if (signal.aborted) return new OutboundFailure('timed_out', 'there was no whole answer in time', error);
  if (error instanceof ServiceError && error.kind === 'unavailable')
    return new OutboundFailure('unresolved', error.message, error);
  if (error instanceof ServiceError) return new OutboundFailure('refused', error.message, error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/CERT|SIGNATURE|SELF_SIGNED|ALTNAME|ERR_SSL|ERR_TLS/.test(code))
    return new OutboundFailure('certificate', `the host's certificate or its TLS was refused (${code})`, error);
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return new OutboundFailure('timed_out', 'the host did not answer in time', error);
  if (/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL/.test(code))
    return new OutboundFailure('unreachable', 'the host does not accept connections at this port', error);
  return new OutboundFailure('broken_off', 'the host broke the connection off', error);
}
