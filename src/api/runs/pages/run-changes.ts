import type { FastifyReply } from 'fastify';
import type { ServerEvent } from '#api/edge/sse.ts';
import type { WatchedRun } from '#domain/runs/model.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { getEvents } from '../log-operations.ts';
import type { RunVisit } from './run-tab.ts';

/**
 * Streams the changes of a run to its page: `changed` when the page that was rendered at a revision is out of date, and `end` once nothing
 * more will change.
 */
export function streamRunChanges(visit: RunVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const shown = Number(visit.query('revision') ?? 0);
  const { runFeed } = visit.context.services;
  return visit.stream(getEvents, { params: { id }, query: {} }, (signal) =>
    toChanges(runFeed.watch(id, signal), shown),
  );
}

/** The changes of a run as events for its page. The first event comes at once if the page was out of date already. */
export async function* toChanges(
  runs: AsyncIterable<Pick<WatchedRun, 'status' | 'revision' | 'lastEventSequence'>>,
  shownRevision: number,
): AsyncGenerator<ServerEvent> {
  let revision = shownRevision;
  let lastEvent: number | null = null;
  for await (const run of runs) {
    const hasChanged = run.revision !== revision || (lastEvent !== null && run.lastEventSequence !== lastEvent);
    if (hasChanged) yield { event: 'changed', data: run.revision };
    revision = run.revision;
    lastEvent = run.lastEventSequence;
    if (isTerminal(run.status)) return yield { event: 'end', data: run.status };
  }
}
