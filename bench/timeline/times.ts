import type { Figure, Report } from '../benchmark.ts';
import { type BareCall, runBareTool } from '../load/bare-tool.ts';
import { median } from '../report/statistics.ts';
import { configuration, pause, row, type Setting } from './setting.ts';
import { momentsOf, readHistory, spansOfRuns, type TimedRun } from './timed-runs.ts';
import { toTimeline } from './timeline-table.ts';

const calls = ['init', 'plan', 'show', 'apply'] as const satisfies BareCall[];
type Bare = Readonly<Record<(typeof calls)[number], number>>;

/** Times runs in turn with the bare calls of the tool. */
export async function measureTimes({ testbed, installation, tool, spans, run }: Setting): Promise<Report> {
  const bare: Bare[] = [];
  const runs: TimedRun[] = [];
  for (let count = 0; count < 4 * testbed.rounds; count += 1) {
    runs.push(await run());
    await pause();
    bare.push(await runBareTool(tool, { directory: testbed.directory, configuration }, calls));
  }
  const whole = runs.map(({ sentAt, seenAt }) => seenAt - sentAt);
  testbed.report(`${runs.length} runs timed: ${median(whole).toFixed(0)} ms (median)`);
  const ofRuns = spansOfRuns(runs, spans.read());
  const inTool = ofRuns.map((own) =>
    own.reduce((sum, { name, startedAt, endedAt }) => sum + (name === 'program' ? endedAt - startedAt : 0), 0),
  );
  const histories = await Promise.all(runs.map(({ key }) => readHistory(installation.temporal, key)));
  return {
    comparisons: [
      row('one run, from its request until a client that waits sees its end', 'ms', whole, {
        target: { atMost: 1.6 },
        other: sumOf(bare, ['init', 'plan', 'apply']),
      }),
      row('in the tool: `plan`, `show` and `apply` in their sandboxes', 'ms', inTool, {
        other: sumOf(bare, ['plan', 'show', 'apply']),
      }),
      row(
        'in the service: the rest',
        'ms',
        whole.map((value, index) => value - (inTool[index] ?? 0)),
      ),
      ...calls.map((call) => row(`the bare tool: \`${call}\``, 'ms', sumOf(bare, [call]).values)),
      row(
        "events in the workflow's history",
        '',
        histories.map(({ length }) => length),
        { target: { below: 12 } },
      ),
    ],
    tables: [toTimeline(runs.map((each, index) => momentsOf(each, ofRuns[index] ?? [], histories[index] ?? [])))],
  };
}

function sumOf(bare: readonly Bare[], summed: readonly (keyof Bare)[]): Figure {
  const [last, ...others] = [...summed].reverse().map((call) => `\`${call}\``);
  return {
    arm: `bare ${[others.reverse().join(', '), last].filter(Boolean).join(' and ')}`,
    values: bare.map((took) => summed.reduce((sum, call) => sum + took[call], 0)),
  };
}
