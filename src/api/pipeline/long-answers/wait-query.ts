import { z } from 'zod';
import { Invalid } from '#domain/shared/errors.ts';
import { durationBetween, parseDuration } from '#domain/shared/values/durations.ts';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';
import type { RowFeed, WatchedRow } from './row-feed.ts';

/** The query of a read that can wait for the next revision of what it reads. */
export const WaitQuery = z.strictObject({
  wait: durationBetween(1, 60)
    .optional()
    .describe('Answer only when the run has changed or ended, or after this time.'),
  revision: wholeNumber({ min: 1 })
    .optional()
    .describe('With `wait`: the revision that you have. A run that has another one by now is answered at once.'),
});

type WaitQuery = z.output<typeof WaitQuery>;

/** The longest time that a request waits, in milliseconds. */
export function longestWaitMs({ wait }: WaitQuery): number {
  return wait === undefined ? 0 : (parseDuration(wait) ?? 0) * 1000;
}

/** Waits for another revision than the one that the client has. A run that has ended is answered at once. */
export function waitForRevision(
  feed: RowFeed<WatchedRow>,
  { id, revision, hasEnded }: WatchedRow & { readonly hasEnded: boolean },
  query: WaitQuery,
): (signal: AbortSignal) => Promise<boolean> {
  const known = query.revision ?? revision;
  const isAnswered = revision !== known || hasEnded;
  return (signal) => (isAnswered ? Promise.resolve(true) : feed.awaitRow(id, (row) => row.revision !== known, signal));
}

/** @throws Invalid if the query names a revision and does not wait */
export function refuseIdleRevision({ wait, revision }: WaitQuery): void {
  if (revision !== undefined && wait === undefined) throw new Invalid('revision: it is for requests with `wait`');
}
