import type { ServerEvent } from '#api/edge/sse.ts';
import type { ChangeFeed } from './change-feed.ts';

/** The content of a page, as far as its stream must know it. */
export interface Followed {
  /** The ids of the subjects whose events change the page: the thing itself, and the runs that it started. */
  readonly subjects: readonly string[];
  /** Changes when the page is out of date. The page sends it to its stream. */
  readonly mark: string;
}

/**
 * Follows the content of a page: `changed` after events of its subjects, or at once if the page was out of date before the stream began,
 * and `end` when the content no longer exists. Reads the content again after each event, because it may have started another run, which
 * must be followed too.
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
