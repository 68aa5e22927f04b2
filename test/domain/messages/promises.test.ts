import { describe, expect, it, test } from 'vitest';
import { pauseAfter } from '#domain/messages/model.ts';
import { docsText, inWords } from '#test/support/stated-in-docs.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const table = [
  [1, 20_000],
  [2, 2 * minuteMs],
  [3, 10 * minuteMs],
  [4, hourMs],
  [5, 4 * hourMs],
  [6, 12 * hourMs],
  [7, 30 * hourMs],
] as const;

describe('a message that fails', () => {
  it.each(table)('is tried again after try %i and %i ms, or a tenth more', (attempts, pauseMs) => {
    expect(pauseAfter(attempts, 0)).toBe(pauseMs);
    expect(pauseAfter(attempts, 1)).toBe(Math.round(pauseMs * 1.1));
  });

  it('is tried again for two days in all, as docs/notifications.md says', () => {
    const sum = table.reduce((all, [attempts]) => all + (pauseAfter(attempts, 0) ?? 0), 0);
    expect(Math.round(sum / dayMs)).toBe(2);
    expect(docsText('notifications')).toContain(`sends it again for ${inWords(2)} days, with growing pauses`);
  });

  it('is not tried again after the eighth try', () => {
    expect(pauseAfter(8, 0)).toBeNull();
  });
});

test('no pause between tries is shorter than the one before it', () => {
  const pauses = table.map(([attempts]) => pauseAfter(attempts, 0) ?? 0);
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
});
