import type { FastifyReply } from 'fastify';
import { compressFor } from '#api/edge/compression.ts';
import type { ServerEvent } from '#api/edge/sse.ts';
import { page } from '#api/web/declarations/area.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { getDebugLogs } from '../../debug-log-operations.ts';
import { findLogLines, getLogLines } from '../../log-line-operations.ts';
import { getLogs } from '../../log-operations.ts';
import { toPart } from './log-part.ts';

/** How many of the newest lines a follower gets at once. When a reader scrolls up, the script requests the lines in between. */
const maxAtOnce = '300';

/**
 * Streams a log and the changes of its run: `log` with the newest lines and their total number, `changed` when the revision of the run
 * differs from that of the page, and `end` once nothing more will come. The number of the last complete line is the id of an event, from
 * which a reader resumes.
 */
function streamRunLog(visit: Visit<{ readonly id: string }>): Promise<FastifyReply> {
  const { id } = visit.params;
  const seen = readNumber(visit.request.headers['last-event-id'] ?? visit.query('after'));
  const revision = readNumber(visit.query('revision'));
  return visit.stream(getLogLines, { params: { id }, query: {} }, (signal) =>
    follow(visit, { seen, revision }, signal),
  );
}

async function* follow(
  visit: Visit<{ readonly id: string }>,
  start: { readonly seen: number; readonly revision: number },
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  let { seen, revision } = start;
  let sequence = -1;
  for await (const run of visit.context.services.runFeed.watch(visit.params.id, signal)) {
    if (run.revision !== revision) yield { event: 'changed', data: run.revision };
    revision = run.revision;
    if (run.lastLogSequence !== sequence || isTerminal(run.status)) {
      const query = { from: String(seen + 1), last: maxAtOnce };
      const part = toPart(await visit.read(getLogLines, { params: { id: visit.params.id }, query }));
      // The last line may be incomplete, so it is sent again.
      seen = Math.max(seen, part.total - 1);
      yield { id: String(seen), event: 'log', data: part };
    }
    sequence = run.lastLogSequence;
    if (isTerminal(run.status)) return yield { event: 'end', data: run.status };
  }
}

function readNumber(given: string | string[] | undefined): number {
  return typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : 0;
}

type LogVisit = Visit<{ readonly id: string }>;

function readLines(visit: LogVisit) {
  const { id } = visit.params;
  return visit.read(getLogLines, { params: { id }, query: pick(visit, ['from', 'limit', 'last']) });
}

function findLines(visit: LogVisit) {
  const { id } = visit.params;
  return visit.read(findLogLines, { params: { id }, query: pick(visit, ['find', 'ignore_case', 'from', 'limit']) });
}

function pick(visit: LogVisit, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = visit.query(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

async function sendJson(visit: LogVisit, body: unknown): Promise<FastifyReply> {
  const content = await compressFor(visit.request, visit.reply, JSON.stringify(body));
  visit.reply.header('cache-control', 'no-store').serializer((payload: unknown) => payload as string);
  return visit.reply.type('application/json; charset=utf-8').send(content);
}

/** The whole log as a file, in the bytes that the steps wrote. */
function sendText(visit: LogVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  return visit.send(getLogs, { params: { id }, query: {}, mediaType: 'text/plain', fileName: `run-${id}.log` });
}

/** The debug log of the tool, as a file. */
function sendDebugLog(visit: LogVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  return visit.send(getDebugLogs, {
    params: { id },
    query: {},
    mediaType: 'text/plain',
    fileName: `run-${id}-debug.log`,
  });
}

/** One whole line as text, because the log on the page cuts long lines. @throws NotFound for a line that the log does not have */
async function sendLine(visit: Visit<{ readonly id: string; readonly number: string }>): Promise<FastifyReply> {
  const { id, number } = visit.params;
  const { total } = await visit.read(getLogLines, { params: { id }, query: { from: number, limit: '1' } });
  if (Number(number) > total) throw new NotFound(`line ${number} of the log, which has ${total},`);
  return visit.send(getLogLines, { params: { id }, query: { from: number, limit: '1' }, mediaType: 'text/plain' });
}

/** The addresses that the log on a run's page requests: lines, matches, the stream, and the log as text. */
export const runLogPages = [
  page('GET', pages.runLog, (visit) =>
    visit.redirect(pagePath(pages.run, { id: visit.params.id }, { tab: 'log', from: visit.query('from') })),
  ),
  page('GET', pages.runLogLines, async (visit) => sendJson(visit, toPart(await readLines(visit)))),
  page('GET', pages.runLogMatches, async (visit) => sendJson(visit, await findLines(visit))),
  page('GET', pages.runLogStream, streamRunLog),
  page('GET', pages.runLogText, sendText),
  page('GET', pages.runDebugLog, sendDebugLog),
  page('GET', pages.runLogLine, sendLine),
];
