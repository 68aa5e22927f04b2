import type { ServerEvent } from '#api/edge/sse.ts';
import type { ChangeFeed } from './change-feed.ts';

/** What a page shows, as far as its stream must know it. */
export interface Followed {
  /** The ids of the subjects whose events change the page: the thing itself, and the runs that it started. */
  readonly subjects: readonly string[];
  /** Differs when the page is out of date. The page hands it to its stream. */
  readonly mark: string;
}

/**
 * Follows what a page shows: `changed` after events of its subjects, or at once if the page was out of date before the stream began, and `end`
 * when it is gone. It reads again after each event, because the thing may have started another run, which it follows then.
 */
export async function* followShown(
  feed: Pick<ChangeFeed, 'watch'>,
  read: () => Promise<Followed | null>,
  shown: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  let now = await read();
  if (now && now.mark !== shown) yield { event: 'changed', data: '' };
  const changes = feed.watch(({ subject }) => now?.subjects.includes(subject.id) ?? false, signal);
  while (now !== null) {
    const { done } = await changes.next();
    if (done) return;
    now = await read();
    yield { event: 'changed', data: '' };
  }
  yield { event: 'end', data: '' };
}
