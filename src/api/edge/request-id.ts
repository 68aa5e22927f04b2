import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { newId } from '#domain/shared/ids.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's own id of this request; undefined if it sent none that is acceptable. */
    clientRequestId: string | undefined;
    /** Identifies the log entry of a failure. Created when first needed; see `supportIdOf`. */
    supportId: string | undefined;
  }
}

export type RequestIdOptions = {
  /** The id of the caller, if it is known already, for the log. */
  principalIdOf?: (request: FastifyRequest) => string | undefined;
};

/** At most 128 printable ASCII characters, which are safe to echo and to log. */
const acceptableClientId = /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/;

/** Routes that probes request every few seconds. Their successes are logged at level debug. */
const quietRoutes: ReadonlySet<string> = new Set(['/health', '/healthz', '/readyz', '/readyz/internal', '/metrics']);

/**
 * Sets `X-Request-ID` on every answer (always generated here), returns `X-Client-Request-ID` if it is acceptable, sets
 * `X-Support-ID` on every 5xx, and logs one line per request: method, route pattern (never the address, which may contain
 * a token), status, duration, caller. (specification, *Conventions*)
 */
export const requestId = fp<RequestIdOptions>(
  async (app, options) => {
    app.decorateRequest('clientRequestId', undefined);
    app.decorateRequest('supportId', undefined);
    app.addHook('onRequest', async (request, reply) => markRequest(request, reply));
    app.addHook('onSend', async (request, reply) => {
      if (reply.statusCode >= 500) reply.header('x-support-id', supportIdOf(request));
    });
    app.addHook('onResponse', async (request, reply) => logRequest(request, reply.statusCode, reply, options));
    app.addHook('onRequestAbort', async (request) => logRequest(request, 'aborted', undefined, options));
  },
  { name: 'request-id', fastify: '5.x' },
);

/** The id that connects a 5xx answer to its log entry. A request has at most one. */
export function supportIdOf(request: FastifyRequest): string {
  request.supportId ??= newId();
  return request.supportId;
}

function markRequest(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  const given = request.headers['x-client-request-id'];
  if (typeof given !== 'string' || !acceptableClientId.test(given)) return;
  request.clientRequestId = given;
  reply.header('x-client-request-id', given);
}

function logRequest(
  request: FastifyRequest,
  status: number | 'aborted',
  reply: FastifyReply | undefined,
  options: RequestIdOptions,
): void {
  const route = request.is404 ? 'unmatched' : (request.routeOptions.url ?? 'unmatched');
  const line = {
    method: request.method,
    route,
    status,
    duration_ms: reply ? Math.round(reply.elapsedTime * 10) / 10 : undefined,
    principal_id: options.principalIdOf?.(request),
    client_address: request.ip,
    client_request_id: request.clientRequestId,
    support_id: request.supportId,
  };
  if (typeof status === 'number' && status >= 500) request.log.error(line, 'request failed');
  else if (quietRoutes.has(route)) request.log.debug(line, 'request');
  else request.log.info(line, status === 'aborted' ? 'request aborted by the client' : 'request');
}
