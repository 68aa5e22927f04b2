import { randomUUID } from 'node:crypto';
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

/** Sends a request to an operation, with its example body unless the request has one. Event streams are not read. */
export async function ask(
  { url }: { readonly url: string },
  operation: Operation,
  { key, ids, body, path = pathOf(operation, ids), headers }: Request,
): Promise<{ status: number; text: string; location: string | null }> {
  const content = body ?? (operation.body ? JSON.stringify(bodies[operation.id]?.(ids) ?? {}) : undefined);
  const stop = new AbortController();
  const response = await fetch(url + path, {
    method: routeOf(operation).method,
    headers: {
      ...(key && { 'x-api-key': key }),
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...(operation.idempotency === 'required' && { 'idempotency-key': randomUUID() }),
      ...headers,
    },
    ...(content !== undefined && { body: content }),
    signal: stop.signal,
  });
  const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isEventStream ? '' : await response.text();
  stop.abort();
  return { status: response.status, text, location: response.headers.get('location') };
}
