import type { FastifyReply } from 'fastify';
import type { ServerEvent } from '#api/edge/sse.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { getLogLines } from '../../log-line-operations.ts';
import { toPart } from './log-part.ts';

/** How many of the newest lines a follower gets at once. A reader who scrolls up asks for those in between. */
const maxAtOnce = '300';

/**
 * Follows a log and its run: `log` with the newest lines and how many there are, `changed` when the run has another revision than the page
 * was rendered with, and `end` once nothing more will come. The last whole line is the id, from which a reader resumes.
 */
export function streamRunLog(visit: Visit<{ readonly id: string }>): Promise<FastifyReply> {
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
      // The last line may go on, so it is sent again.
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
