import { Readable } from 'node:stream';
import { z } from 'zod';
import { type ServerEvent, sendEvents } from '#api/edge/sse.ts';
import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import type { Call } from '#api/pipeline/call.ts';
import { read } from '#api/pipeline/operation.ts';
import { Flag, pageOf, Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { type FoundLog, searchLog } from '#domain/runs/attempts/log-search.ts';
import { type LogRow, readLog } from '#domain/runs/attempts/log-store.ts';
import { streamLog } from '#domain/runs/attempts/logs.ts';
import { findRemovedOfRun } from '#domain/runs/deletion/retention.ts';
import { findRun, listEvents, readProgress } from '#domain/runs/store.ts';
import { Invalid, NotFound } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { maxInteger } from '#domain/shared/values/storable.ts';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';
import { isTerminal, logPhases, logStreams } from '#domain/shared/vocabulary/runs.ts';
import { RunParams, readAccess } from './operations.ts';
import { RunEventView } from './views.ts';

/** The time before which retention has removed entries. A list may have lost its beginning, or everything. */
export const RemovedBefore = Time.nullable().describe(
  'What was older has been removed, because it was out of retention. Null: nothing was removed.',
);

export const LogEntryView = z
  .object({
    sequence: z.int(),
    time: Time,
    phase: z.enum(logPhases),
    stream: z.enum(logStreams),
    first_line: z.int(),
    lines: z.int(),
    text: z.string(),
  })
  .meta({ id: 'LogEntry' });

export const RunLogView = z
  .object({
    entries: z.array(LogEntryView),
    last_sequence: z.int(),
    complete: z.boolean(),
    removed_before: RemovedBefore,
  })
  .meta({ id: 'RunLog' });

/** Bytes that are not UTF-8 become U+FFFD here; the text/plain log has them unchanged. */
export function toLogEntry({ content, firstLine, ...row }: LogRow): z.input<typeof LogEntryView> {
  return { ...row, first_line: firstLine, text: new TextDecoder().decode(content) };
}

const pageBytes = 2 * 1024 * 1024;
/** A stream ends after this time. Its reader connects again at its position. */
const maxStreamMs = 5 * 60_000;
const nested = { ...readAccess, review: { inherits: 'runs.get' } } as const;

const LogQuery = z.strictObject({
  after: wholeNumber({ min: 0 }).default(0).describe('The last sequence that you have.'),
  limit: wholeNumber({ min: 1, max: 1000 }).default(200),
});

const SearchQuery = LogQuery.extend({
  find: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Answer only the entries in which this text ends. It is compared as it is, and is no pattern.'),
  ignore_case: Flag.optional().describe('`true`: `find` does not tell upper from lower case.'),
});

export const getLogs = read({
  id: 'runs.get_logs',
  route: 'GET /api/v1/runs/:id/logs',
  summary: "Read a run's log, as entries or, with Accept: text/plain, as text",
  description:
    'Entries are in order, each once. `complete` says that the run has ended and that this page is the last. With `find`, a request ' +
    'searches a few megabytes: ask again with `last_sequence` as `after` until `complete`, even after an answer without entries.',
  params: RunParams,
  query: SearchQuery,
  responses: { 200: RunLogView },
  produces: { 'text/plain': 'The whole log after `after`, in the bytes that the steps wrote.' },
  access: nested,
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async ({ em, params, query, request }) => {
    const run = await requireProgress(em, params.id);
    const position = { runId: params.id, runCreatedAt: run.createdAt, after: query.after };
    refuseUnfitSearch(query, request.mediaType);
    if (query.find !== undefined) {
      const { find, limit } = query;
      const found = await searchLog(em, { ...position, find, limit, ignoreCase: query.ignore_case === 'true' });
      return toPage(em, run, found);
    }
    if (request.mediaType === 'text/plain') {
      return RawAnswer.of('text/plain; charset=utf-8', Readable.from(streamLog(em, position)));
    }
    const rows = await readLog(em, { ...position, limit: query.limit, maximumBytes: pageBytes });
    return toPage(em, run, { rows, lastSequence: rows.at(-1)?.sequence ?? query.after });
  },
});

/** @throws Invalid for a search whose answer would be text/plain, and for `ignore_case` without a text to find */
function refuseUnfitSearch({ find, ignore_case }: z.output<typeof SearchQuery>, mediaType: string): void {
  if (find === undefined && ignore_case !== undefined)
    throw new Invalid('ignore_case: it needs a text to find, in `find`');
  if (find !== undefined && mediaType === 'text/plain')
    throw new Invalid('find: a search answers entries: accept application/json, or leave `find` out');
}

async function toPage(em: Em, run: Progress, { rows, lastSequence }: FoundLog) {
  const complete = isTerminal(run.status) && lastSequence >= run.lastSequence;
  const removedBefore = await findRemovedOfRun(em, 'run_log_chunks', new Date(run.createdAt));
  return { entries: rows.map(toLogEntry), last_sequence: lastSequence, complete, removed_before: removedBefore };
}

const RunEvents = pageOf('events', RunEventView).extend({ removed_before: RemovedBefore }).meta({ id: 'RunEventPage' });

export const getEvents = read({
  id: 'runs.get_events',
  route: 'GET /api/v1/runs/:id/events',
  summary: 'Read the events of a run, oldest first',
  params: RunParams,
  query: LogQuery.extend({ cursor: pageQuery.cursor }),
  responses: { 200: RunEvents },
  access: nested,
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async ({ em, params, query }) => {
    const run = await requireProgress(em, params.id);
    const page = await listEvents(em, params.id, query.after, query);
    const removedBefore = await findRemovedOfRun(em, 'domain_events', new Date(run.createdAt));
    return { events: page.items, next_cursor: page.nextCursor, removed_before: removedBefore };
  },
});

export const streamLogs = read({
  id: 'runs.stream_logs',
  route: 'GET /api/v1/runs/:id/logs/stream',
  summary: 'Follow a run as server-sent events: `run` when it changes, `event`, `log`, and `end` when it has ended',
  description:
    'The log resumes after the sequence in `Last-Event-ID`. Every connection receives all events of the run; skip those whose ' +
    '`sequence` you have. Made for browsers; programs poll the run and read its log.',
  params: RunParams,
  responses: { 200: z.never() },
  produces: { 'text/event-stream': 'Server-sent events, of which `log` has an id.' },
  access: nested,
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async (call) =>
    RawAnswer.by((request, reply) =>
      sendEvents(request, reply, ({ lastEventId, signal }) => follow(call, toPosition(lastEventId), signal)),
    ),
});

async function* follow(
  { em, params, services }: Call<{ id: string }, unknown, unknown, unknown>,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const { createdAt: runCreatedAt } = await requireProgress(em, params.id);
  let position = after;
  let eventPosition = 0;
  let sentRevision = 0;
  const untilAskedAgain = AbortSignal.any([signal, AbortSignal.timeout(maxStreamMs)]);
  for await (const run of services.runFeed.watch(params.id, untilAskedAgain)) {
    const { status, phase, revision, waitingOn, lastLogSequence: last, lastEventSequence: lastEvent } = run;
    if (revision !== sentRevision) yield { event: 'run', data: { status, phase, revision, waiting_on: waitingOn } };
    sentRevision = revision;
    if (eventPosition < lastEvent) yield* readEvents(em, params.id, { after: eventPosition, upTo: lastEvent });
    eventPosition = lastEvent;
    while (position < last) {
      const rows = await readLog(em, {
        runId: params.id,
        runCreatedAt,
        after: position,
        limit: 50,
        maximumBytes: pageBytes,
      });
      for (const row of rows)
        yield { id: String(row.sequence), event: 'log', data: z.encode(LogEntryView, toLogEntry(row)) };
      position = rows.at(-1)?.sequence ?? last;
    }
    if (isTerminal(status)) return yield { event: 'end', data: { status } };
  }
}

/**
 * The events of a run after one sequence, up to and including another. Sequences have no gaps, and all events up to the last one are
 * committed.
 */
async function* readEvents(
  em: Em,
  runId: string,
  { after, upTo }: { after: number; upTo: number },
): AsyncGenerator<ServerEvent> {
  for (const event of (await listEvents(em, runId, after, { limit: upTo - after })).items) {
    yield { event: 'event', data: z.encode(RunEventView, event) };
  }
}

/** The sequence after which a stream resumes. A header that is not a valid sequence starts the stream at the beginning. */
function toPosition(lastEventId = ''): number {
  const position = /^\d{1,10}$/.test(lastEventId) ? Number(lastEventId) : 0;
  return position <= maxInteger ? position : 0;
}

type Progress = Awaited<ReturnType<typeof requireProgress>>;

async function requireProgress(em: Em, id: string) {
  const progress = await readProgress(em, id);
  if (!progress) throw new NotFound('run');
  return progress;
}
