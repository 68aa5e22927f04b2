import { type IncomingMessage, type ServerResponse, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { EgressRefusal } from './refusal.ts';

/** Headers that apply to one connection only (RFC 9110, 7.6.1), and those that this proxy sets itself. */
const connectionHeaders = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Rejects a request whose end two parsers could see in different places. */
export function checkFraming({ headers }: IncomingMessage): void {
  const encoding = headers['transfer-encoding'];
  if (encoding === undefined) return;
  if (headers['content-length'] !== undefined || encoding.toLowerCase() !== 'chunked') {
    throw new EgressRefusal(400, 'refused: the request gives its length twice, or in an unknown way');
  }
}

/**
 * Sends a proxied request over a connected socket, and returns its answer. The host comes from the URL, and the header `Host`
 * is rewritten. Each connection serves one request on both sides, so nothing can be smuggled behind it.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  options: { url: URL; remote: Socket; idleMs: number; failed: (error: unknown) => void },
): void {
  const { url, remote } = options;
  const outgoing = startRequest({
    createConnection: () => remote,
    method: request.method ?? 'GET',
    path: url.pathname + url.search,
    headers: requestHeaders(request, url.host),
    maxHeaderSize: 32 * 1024,
  });
  remote.setTimeout(options.idleMs, () =>
    outgoing.destroy(new EgressRefusal(504, 'failed: nothing came for too long')),
  );
  outgoing.on('error', (error) => {
    if (response.headersSent || response.closed) response.destroy();
    else options.failed(error);
  });
  outgoing.on('response', (answer) => {
    answer.on('error', () => response.destroy());
    answer.on('close', () => answer.complete || response.destroy());
    response.writeHead(answer.statusCode ?? 502, responseHeaders(answer));
    answer.pipe(response);
  });
  response.on('close', () => remote.destroy());
  request.on('error', () => remote.destroy());
  request.pipe(outgoing);
}

function requestHeaders(request: IncomingMessage, host: string): string[] {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const framing = isChunked ? ['transfer-encoding', 'chunked'] : [];
  return ['host', host, 'connection', 'close', ...framing, ...passingHeaders(request)];
}

function responseHeaders(answer: IncomingMessage): string[] {
  return ['connection', 'close', ...passingHeaders(answer)];
}

/** The headers as they came, including repeated ones, except those of the connection and those that `Connection` names. */
function passingHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/));
  const isPassing = (name: string) => name === 'content-length' || !(connectionHeaders.has(name) || named.has(name));
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && isPassing(name.toLowerCase()) ? [name, rawHeaders[index + 1] ?? ''] : [],
  );
}
