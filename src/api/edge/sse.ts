import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { anonymous } from '#domain/shared/access/principal.ts';
import { type LimitSubject, limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { openStreams } from './limits/stream-limit.ts';
import { logFailure } from './log-options.ts';
import { supportIdOf } from './request-id.ts';

/** A server-sent event. `data` is a text, or a value that is sent as JSON; a client resumes after an `id`. */
export type ServerEvent = { id?: string; event?: string; data: string | number | boolean | object | null };

/** The input of a producer of events: the last event that the client has, and a signal to stop. */
export type EventContext = { lastEventId: string | undefined; signal: AbortSignal };

export type EventStreamOptions = {
  /** Milliseconds without events after which a comment keeps the connection open. */
  heartbeat?: number;
  /** Milliseconds without reading after which the client's connection is closed. */
  stalledAfter?: number;
};

/** For each stream, a controller that ends it before its producer does. */
const endings = new WeakMap<FastifyReply, AbortController>();

/** How long a client that reads may take to receive the end of its stream. */
const endWithinMs = 1_000;

const acceptableEventId = /^[\x20-\x7e]{1,256}$/;
const heartbeatComment = ': heartbeat\n\n';

/**
 * Answers with a stream of server-sent events. The next event is requested only when the client can take it, so a slow
 * client costs no memory. The signal aborts when the client disconnects or the server stops, and `produce` must end then.
 * If `produce` fails, the stream ends with an `error` event that has the support id.
 * @throws HttpProblem (429) where the caller has too many streams open
 */
export function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  produce: (context: EventContext) => AsyncIterable<ServerEvent>,
  options: EventStreamOptions = {},
): FastifyReply {
  const isFollowed = request.method !== 'HEAD';
  if (isFollowed) reply.raw.once('close', openStreams.open(streamSubjectOf(request)));
  reply
    .headers({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
    .type('text/event-stream; charset=utf-8');
  if (!isFollowed) return reply.send();
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  reply.raw.setTimeout(options.stalledAfter ?? 60_000, () => reply.raw.destroy());
  const ending = new AbortController();
  endings.set(reply, ending);
  const signal = AbortSignal.any([gone.signal, ending.signal, request.server.stopping]);
  const events = produce({ lastEventId: readLastEventId(request), signal });
  const text = new EventText(request, events[Symbol.asyncIterator](), signal, options.heartbeat ?? 15_000);
  return reply.send(Readable.from(text.write(), { objectMode: false, highWaterMark: 16 * 1024 }));
}

/**
 * Ends the stream of an answer, if it is one. Nothing more is produced, and the client gets a complete answer, because browsers report an
 * aborted one as an error of the page. A client that does not read is disconnected after a second.
 */
export function endEvents(reply: FastifyReply): boolean {
  const ending = endings.get(reply);
  if (!ending) return false;
  ending.abort();
  const timer = setTimeout(() => reply.raw.destroy(), endWithinMs);
  reply.raw.once('close', () => clearTimeout(timer));
  return true;
}

/** The caller whose limit of streams applies. Without a credential, that is the address. */
function streamSubjectOf({ principal, ip }: FastifyRequest): LimitSubject {
  return principal && principal !== anonymous ? limitSubjectOfCaller(principal) : { person: ip, owner: ip };
}

/** Formats one event. Line breaks in `data` start further `data` lines; in `id` and `event` they are removed. */
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

/** Writes events as the text of a stream, with heartbeats during silence. */
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
    // The first comment sends the headers, so that the client knows at once that the stream is open.
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
      logFailure(this.#request.log, error, supportId, 'an event stream failed');
      yield formatEvent({ event: 'error', data: { error: 'internal error', support_id: supportId } });
    } finally {
      // Not awaited: a producer that is waiting learns of the end through its signal.
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

  /** Resolves at the next heartbeat or at the abort, and removes its timer and listener. */
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
