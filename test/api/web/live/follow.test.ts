import { describe, expect, it } from 'vitest';
import type { EventTest } from '#api/web/live/change-feed.ts';
import { type Followed, followShown } from '#api/web/live/follow.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';

/** A feed that has these events, one after the other. */
function feedOf(ids: readonly string[]) {
  return {
    async *watch(isWanted: EventTest) {
      for (const id of ids) if (isWanted({ subject: { kind: 'run', id } } as PublishedEvent)) yield 'changed' as const;
    },
  };
}

/** The events of the stream while the page has these states, one after the other. */
async function hear(ids: readonly string[], states: readonly (Followed | null)[], shown: string) {
  const left = [...states];
  const read = async () => (left.length > 1 ? left.shift() : left[0]) ?? null;
  const heard: string[] = [];
  const { signal } = new AbortController();
  for await (const { event } of followShown(feedOf(ids), read, shown, signal)) heard.push(event ?? '');
  return heard;
}

describe('the event stream of a page', () => {
  const before = { subjects: ['schedule'], mark: '1' };
  const after = { subjects: ['schedule', 'run'], mark: '2' };

  it('sends a change at once if the page was out of date before the stream began', async () => {
    expect(await hear([], [after], '1')).toEqual(['changed']);
    expect(await hear([], [after], '2')).toEqual([]);
  });

  it('follows a run once the schedule has started it, and no other subject', async () => {
    expect(await hear(['other', 'run'], [before], '1')).toEqual([]);
    expect(await hear(['schedule', 'other', 'run'], [before, after], '1')).toEqual(['changed', 'changed']);
  });

  it('ends when the thing no longer exists', async () => {
    expect(await hear(['schedule', 'schedule'], [before, null], '1')).toEqual(['changed', 'end']);
    expect(await hear([], [null], '1')).toEqual(['end']);
  });
});
