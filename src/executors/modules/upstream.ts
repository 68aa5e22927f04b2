import { type IncomingMessage, request as requestPlain, type ServerResponse } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, getCACertificates } from 'node:tls';
import { destinationOf } from '../egress/destination.ts';
import type { Egress } from '../egress/egress.ts';
import { EgressRefusal } from '../egress/refusal.ts';

const idleMs = 120_000;

export interface UpstreamRequest {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: IncomingMessage;
}

/**
 * Sends a request with a credential to a system that a connection names, on behalf of a program of the attempt. The address is checked when
 * it is dialled. Redirects are returned like any other answer.
 * @throws EgressRefusal, or the error of the connection
 */
export async function askUpstream(
  egress: Egress,
  { url, method, headers, body }: UpstreamRequest,
  client: ServerResponse | Duplex,
): Promise<IncomingMessage> {
  const socket = await egress.connect(destinationOf(url), client);
  client.once('close', () => socket.destroy());
  const isSecure = url.protocol === 'https:';
  const connection = isSecure ? secure(socket, url) : socket;
  return new Promise((resolve, reject) => {
    const send = isSecure ? requestSecure : requestPlain;
    const request = send({
      createConnection: () => connection,
      method,
      path: url.pathname + url.search,
      headers: { host: url.host, connection: 'close', ...headers },
      maxHeaderSize: 64 * 1024,
    });
    socket.setTimeout(idleMs, () => request.destroy(new EgressRefusal(504, 'failed: nothing came for too long')));
    request.once('response', resolve);
    request.on('error', reject);
    if (body === undefined) request.end();
    else body.pipe(request);
  });
}

function secure(socket: Socket, url: URL): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return connectTls({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ca: authorities(),
    ALPNProtocols: ['http/1.1'],
  });
}

let trusted: readonly string[] | null = null;

/** The certificate authorities that the attempt's programs trust: those of the machine, or of `SSL_CERT_FILE`. */
function authorities(): string[] {
  trusted ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return [...trusted];
}

/** Reads a short answer. @throws Error if it is longer */
export async function readShort(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new EgressRefusal(502, 'failed: the answer is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
