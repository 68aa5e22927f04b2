import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { logFailure } from './log-options.ts';
import { supportIdOf } from './request-id.ts';

/** One server-sent event. `data` is text as it is, or a value written as JSON; `id` is where a reader resumes. */
export type ServerEvent = { id?: string; event?: string; data: string | number | boolean | object | null };

/** What a producer of events gets: where the reader left off, and when to stop. */
export type EventContext = { lastEventId: string | undefined; signal: AbortSignal };

export type EventStreamOptions = {
  /** Milliseconds of silence after which a comment keeps the connection open. */
  heartbeat?: number;
  /** Milliseconds that a reader may take nothing before its connection is cut. */
  stalledAfter?: number;
};

const acceptableEventId = /^[\x20-\x7e]{1,256}$/;
const heartbeatComment = ': heartbeat\n\n';

/**
 * Answers with a stream of server-sent events. `produce` is asked for the next event only when the reader has room, so a
 * slow reader costs no memory; its signal aborts when the reader goes or the server stops, and it must end then. An
 * error inside the stream becomes an `error` event with the support id, and the end.
 */
export function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  produce: (context: EventContext) => AsyncIterable<ServerEvent>,
  options: EventStreamOptions = {},
): FastifyReply {
  reply
    .headers({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
    .type('text/event-stream; charset=utf-8');
  if (request.method === 'HEAD') return reply.send();
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  reply.raw.setTimeout(options.stalledAfter ?? 60_000, () => reply.raw.destroy());
  const signal = AbortSignal.any([gone.signal, request.server.stopping]);
  const events = produce({ lastEventId: readLastEventId(request), signal });
  const text = new EventText(request, events[Symbol.asyncIterator](), signal, options.heartbeat ?? 15_000);
  return reply.send(Readable.from(text.write(), { objectMode: false, highWaterMark: 16 * 1024 }));
}

/** The text of one event. Line ends inside `data` make further lines of it; in `id` and `event` they are left out. */
export function formatEvent({ id, event, data }: ServerEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  const field = (name: string, value: string | undefined) =>
    value === undefined ? '' : `${name}: ${value.replace(/[\r\n\0]/g, '')}\n`;
  return `${field('id', id)}${field('event', event)}${lines.join('')}\n`;
}

function readLastEventId(request: FastifyRequest): string | undefined {
  const given = request.headers['last-event-id'];
  return typeof given === 'string' && acceptableEventId.test(given) ? given : undefined;
}

/** Turns events into the text of a stream, with heartbeats where nothing happens. */
class EventText {
  readonly #request: FastifyRequest;
  readonly #events: AsyncIterator<ServerEvent>;
  readonly #signal: AbortSignal;
  readonly #heartbeat: number;

  constructor(request: FastifyRequest, events: AsyncIterator<ServerEvent>, signal: AbortSignal, heartbeat: number) {
    this.#request = request;
    this.#events = events;
    this.#signal = signal;
    this.#heartbeat = heartbeat;
  }

  async *write(): AsyncGenerator<string> {
    // A first comment sends the headers, so that the reader knows at once that the stream is open.
    yield ': open\n\n';
    try {
      let next = this.#events.next();
      while (!this.#signal.aborted) {
        const result = await this.#raceHeartbeat(next);
        if (result === 'aborted') return;
        if (result === 'silence') {
          yield heartbeatComment;
          continue;
        }
        if (result.done) return;
        yield formatEvent(result.value);
        next = this.#events.next();
      }
    } catch (error) {
      if (this.#signal.aborted) return;
      const supportId = supportIdOf(this.#request);
      logFailure(this.#request.log, error, supportId, 'a stream of events failed');
      yield formatEvent({ event: 'error', data: { error: 'internal error', support_id: supportId } });
    } finally {
      // Not awaited: a producer that is waiting inside hears of the end through its signal.
      this.#events.return?.().catch(() => {});
    }
  }

  async #raceHeartbeat(
    next: Promise<IteratorResult<ServerEvent>>,
  ): Promise<IteratorResult<ServerEvent> | 'silence' | 'aborted'> {
    const waiting = new AbortController();
    try {
      return await Promise.race([next, this.#wait(waiting.signal)]);
    } finally {
      waiting.abort();
    }
  }

  /** Resolves after the heartbeat or at the end; leaves neither timer nor listener behind. */
  #wait(over: AbortSignal): Promise<'silence' | 'aborted'> {
    return new Promise((resolve) => {
      const finish = (how: 'silence' | 'aborted') => {
        clearTimeout(timer);
        this.#signal.removeEventListener('abort', onAbort);
        resolve(how);
      };
      const onAbort = () => finish('aborted');
      const timer = setTimeout(() => finish('silence'), this.#heartbeat);
      this.#signal.addEventListener('abort', onAbort);
      over.addEventListener('abort', () => finish('silence'), { once: true });
    });
  }
}
