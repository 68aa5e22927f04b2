import { expect, it } from 'vitest';
import { toTimeline } from '../../bench/timeline/timeline-table.ts';

const moment = (what: string, at: number, took: number | null = null) => ({ what, at, took });

it('what happens in runs is listed in the order of its ends, with medians and p95', () => {
  const runs = [1, 2, 3].map((factor) => [
    moment('the end', 100 * factor),
    moment('claim', 10 * factor, factor),
    moment('claim', 50 * factor, 2 * factor),
  ]);
  expect(toTimeline(runs).rows).toEqual([
    ['claim', '20.0', '30.0', '2.00', '3.00'],
    ['claim (2)', '100', '150', '4.00', '6.00'],
    ['the end', '200', '300', '', ''],
  ]);
});

it('what happens in less than half of the runs is left out', () => {
  const runs = [[moment('rare', 1)], [moment('usual', 2)], [moment('usual', 2)]];
  expect(toTimeline(runs).rows.map(([what]) => what)).toEqual(['usual']);
});
