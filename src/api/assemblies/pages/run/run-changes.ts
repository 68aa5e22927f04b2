import type { FastifyReply } from 'fastify';
import type { ServerEvent } from '#api/edge/sse.ts';
import { readAssemblyRun } from '#domain/assemblies/runs/store.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { getRun } from '../../run-operations.ts';
import type { AssemblyRunVisit } from '../views.ts';

/**
 * Streams the changes of an assembly run to its page: `changed` at each of its events, or at once if the page that was rendered at a
 * revision is out of date, and `end` once it has ended.
 */
export function streamAssemblyRunChanges(visit: AssemblyRunVisit): Promise<FastifyReply> {
  const { runID } = visit.params;
  const shown = Number(visit.query('revision') ?? 0);
  const { changeFeed } = visit.context.services;
  return visit.stream(getRun, { params: visit.params }, (signal) => {
    const changes = changeFeed.watch(({ subject }) => subject.kind === 'assembly_run' && subject.id === runID, signal);
    return toEvents(changes, () => readAssemblyRun(visit.em, runID), shown);
  });
}

type Progress = Pick<NonNullable<Awaited<ReturnType<typeof readAssemblyRun>>>, 'status' | 'revision'>;

/** The changes of an assembly run as events for its page. */
export async function* toEvents(
  changes: AsyncIterable<'changed'>,
  read: () => Promise<Progress | undefined>,
  shown: number,
): AsyncGenerator<ServerEvent> {
  const first = await read();
  if (first && first.revision !== shown) yield { event: 'changed', data: first.revision };
  if (!first || isTerminal(first.status)) return yield { event: 'end', data: '' };
  for await (const _ of changes) {
    const run = await read();
    yield { event: 'changed', data: run?.revision ?? 0 };
    if (!run || isTerminal(run.status)) return yield { event: 'end', data: '' };
  }
}
