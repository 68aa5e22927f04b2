import { z } from 'zod';
import type { RowFeed } from '#api/pipeline/long-answers/row-feed.ts';
import { refuseIdleRevision, WaitQuery, waitForRevision } from '#api/pipeline/long-answers/wait-query.ts';
import type { WatchedRun } from '#domain/runs/model.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';

/** The query of `runs.get`. A client that only wants the end of a run is not woken for each of its steps. */
export const RunWaitQuery = WaitQuery.extend({
  until: z
    .enum(['settled'])
    .optional()
    .describe(
      'With `wait`: answer only when the run has ended or waits for approval, or after this time. With `revision`, a run that waits for ' +
        'approval with that revision is waited for further.',
    ),
});

type RunWaitQuery = z.output<typeof RunWaitQuery>;
type KnownRun = Pick<WatchedRun, 'id' | 'status' | 'revision'>;

/** Waits for another revision than the one that the client has, or until the run is settled. A run that has ended is answered at once. */
export function waitForRun(
  feed: RowFeed<WatchedRun>,
  run: KnownRun,
  query: RunWaitQuery,
): (signal: AbortSignal) => Promise<boolean> {
  if (query.until === undefined) return waitForRevision(feed, { ...run, hasEnded: isTerminal(run.status) }, query);
  const isAwaited = ({ status, revision }: Pick<KnownRun, 'status' | 'revision'>) =>
    isTerminal(status) || (status === 'pending_approval' && revision !== query.revision);
  return (signal) => (isAwaited(run) ? Promise.resolve(true) : feed.awaitRow(run.id, isAwaited, signal));
}

/** @throws Invalid if the query names a revision or an end of the wait, and does not wait */
export function refuseIdleWait(query: RunWaitQuery): void {
  refuseIdleRevision(query);
  if (query.until !== undefined && query.wait === undefined) throw new Invalid('until: it is for requests with `wait`');
}
