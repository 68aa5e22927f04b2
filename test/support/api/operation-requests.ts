import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { type Operation, routeOf } from '#api/pipeline/operation.ts';
import { bodies } from './example-bodies.ts';
import { pathOf } from './operation-paths.ts';
import type { Ids } from './tenant-ids.ts';

export interface Request {
  readonly ids: Ids;
  readonly key?: string | undefined;
  readonly body?: string | undefined;
  /** Replaces the operation's own path. */
  readonly path?: string | undefined;
  readonly headers?: Record<string, string>;
}

/** A server by its address, or one of this process, which is asked without a socket. */
export type Server = { readonly url: string } | { readonly app: FastifyInstance };

export interface OperationAnswer {
  readonly status: number;
  /** Empty for an event stream, which is not read. */
  readonly text: string;
  readonly location: string | null;
}

/** Sends a request to an operation, with its example body unless the request has one. */
export async function ask(
  server: Server,
  operation: Operation,
  { key, ids, body, path = pathOf(operation, ids), headers }: Request,
): Promise<OperationAnswer> {
  const content = body ?? (operation.body ? JSON.stringify(bodies[operation.id]?.(ids) ?? {}) : undefined);
  const sent = {
    ...(key && { 'x-api-key': key }),
    ...(content !== undefined && { 'content-type': 'application/json' }),
    ...(operation.idempotency === 'required' && { 'idempotency-key': randomUUID() }),
    ...headers,
  };
  const send = 'app' in server ? inject : fetchAt;
  return send(server as never, routeOf(operation).method, path, sent, content);
}

async function inject(
  { app }: { readonly app: FastifyInstance },
  method: string,
  url: string,
  headers: Record<string, string>,
  payload: string | undefined,
): Promise<OperationAnswer> {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    headers,
    payloadAsStream: true,
    ...(payload !== undefined && { payload }),
  });
  const stream = answer.stream();
  const body = isEventStream(answer.headers['content-type']) ? '' : await text(stream);
  stream.destroy();
  return { status: answer.statusCode, text: body, location: answer.headers.location ?? null };
}

async function fetchAt(
  { url }: { readonly url: string },
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | undefined,
): Promise<OperationAnswer> {
  const stop = new AbortController();
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body !== undefined && { body }),
    signal: stop.signal,
  });
  const read = isEventStream(response.headers.get('content-type')) ? '' : await response.text();
  stop.abort();
  return { status: response.status, text: read, location: response.headers.get('location') };
}

function isEventStream(contentType: string | number | string[] | null | undefined): boolean {
  return String(contentType).startsWith('text/event-stream');
}
