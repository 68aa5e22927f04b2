import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type FastifyBaseLogger, type FastifyHttpOptions, LogController } from 'fastify';
import { newId } from '#domain/shared/ids.ts';
import { type SendErrorPage, sendError } from './errors/errors.ts';
import { jsonBodyLimit } from './json/strict-json.ts';
import { earlyPageHeaders } from './security-headers.ts';

export type EdgeServerOptions = {
  /** The logger, created with `edgeLogOptions`. */
  logger: FastifyBaseLogger;
  /** Addresses or networks whose `X-Forwarded-*` headers are trusted (`COORDINATOR_TRUSTED_PROXIES`); none by default. */
  trustedProxies?: readonly string[];
  /** Sends an error as a page to a browser. Without it, browsers get JSON. */
  sendPage?: SendErrorPage;
};

/** Milliseconds that a client may take to send a whole request. */
const requestTimeout = 60_000;

/** The Fastify options that the plugins of the edge rely on: `Fastify(edgeServerOptions({ logger }))`. */
export function edgeServerOptions(options: EdgeServerOptions): FastifyHttpOptions<Server, FastifyBaseLogger> {
  return {
    loggerInstance: options.logger,
    genReqId: () => newId(),
    requestIdHeader: false,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    trustProxy: options.trustedProxies && options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    bodyLimit: jsonBodyLimit,
    requestTimeout,
    // The host check rejects a missing Host header, in the shape of every other error.
    http: { requireHostHeader: false },
    // `requestTimeout` ends slow requests. Keep-alive outlasts the usual 60 s of a load balancer.
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    // The shutdown plugin rejects new requests itself, in the shape of every other error.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      void reply.header('x-request-id', request.id).headers(earlyPageHeaders);
      void sendError(error, request, reply, options.sendPage);
    },
    clientErrorHandler: (error, socket) => answerParserError(error, socket),
  };
}

const parserErrors: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the request headers are larger than 16 KiB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions of the body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
};

/** Answers what the HTTP parser rejected, in the shape of every other error, and closes the connection. */
function answerParserError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const [status, message] = parserErrors[error.code ?? ''] ?? [400, 'the request is not valid HTTP/1.1'];
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
