import type { Table } from '../benchmark.ts';
import { median, percentile } from '../report/statistics.ts';
import { show } from '../report/table.ts';
import type { Moment } from './timed-runs.ts';

/** What happened in fewer of the runs is left out. */
const minShare = 0.5;

interface Happening {
  readonly at: number[];
  readonly took: number[];
}

/** When everything happened that usually happens in a run, in the order of the medians. */
export function toTimeline(runs: readonly (readonly Moment[])[]): Table {
  const happenings = new Map<string, Happening>();
  for (const moments of runs) {
    for (const [what, { at, took }] of numberRepeated(moments)) {
      const happening = happenings.get(what) ?? { at: [], took: [] };
      happening.at.push(at);
      if (took !== null) happening.took.push(took);
      happenings.set(what, happening);
    }
  }
  const usual = [...happenings].filter(([, { at }]) => at.length >= runs.length * minShare);
  usual.sort(([, one], [, other]) => median(one.at) - median(other.at));
  return {
    title: `When each part of a run ends, in milliseconds since the request, and how long it took (${runs.length} runs).`,
    columns: ['', 'ends, median', 'p95', 'took, median', 'p95'],
    rows: usual.map(([what, { at, took }]) => [what, ...figuresOf(at), ...figuresOf(took)]),
  };
}

/** What happens again in a run gets its number from the second time on. */
function numberRepeated(moments: readonly Moment[]): [string, Moment][] {
  const counts = new Map<string, number>();
  return [...moments]
    .sort((one, other) => one.at - other.at)
    .map((moment) => {
      const count = (counts.get(moment.what) ?? 0) + 1;
      counts.set(moment.what, count);
      return [count === 1 ? moment.what : `${moment.what} (${count})`, moment];
    });
}

function figuresOf(values: readonly number[]): [string, string] {
  return values.length === 0 ? ['', ''] : [show(median(values)), show(percentile(values, 0.95))];
}
