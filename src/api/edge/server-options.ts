import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type FastifyBaseLogger, type FastifyHttpOptions, LogController } from 'fastify';
import { newId } from '#domain/shared/ids.ts';
import { sendError } from './errors/errors.ts';
import { jsonBodyLimit } from './json/strict-json.ts';

export type EdgeServerOptions = {
  /** Where the lines go; make it with `edgeLogOptions`. */
  logger: FastifyBaseLogger;
  /** Addresses or networks whose `X-Forwarded-*` are believed; none unless set (`COORDINATOR_TRUSTED_PROXIES`). */
  trustedProxies?: readonly string[];
};

/** Milliseconds in which a client must have sent a whole request. */
const requestTimeout = 60_000;

/** What the plugins expect of the Fastify instance that they are registered on: `Fastify(edgeServerOptions({ logger }))`. */
export function edgeServerOptions(options: EdgeServerOptions): FastifyHttpOptions<Server, FastifyBaseLogger> {
  return {
    loggerInstance: options.logger,
    genReqId: () => newId(),
    requestIdHeader: false,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    trustProxy: options.trustedProxies && options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    bodyLimit: jsonBodyLimit,
    requestTimeout,
    // A missing Host is refused by the host check, in the shape of every other error.
    http: { requireHostHeader: false },
    // Slower clients are cut off; keep-alive outlasts the usual 60 s of a load balancer.
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    // The shutdown plugin refuses new requests itself, in the shape of every other error.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      void reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
      void sendError(error, request, reply);
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket),
  };
}

const brokenRequests: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the request headers are larger than 16 KiB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions of the body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
};

/** What is not even HTTP never becomes a request: one answer in the usual shape, then the connection ends. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const [status, message] = brokenRequests[error.code ?? ''] ?? [400, 'the request is not valid HTTP/1.1'];
  const body = JSON.stringify({ error: message });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-ID: ${newId()}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
