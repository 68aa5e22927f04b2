import type { Benchmark, Comparison } from '../benchmark.ts';
import type { Testbed } from '../installation/testbed.ts';
import { type Sample, valuesOf } from '../report/statistics.ts';
import { measureLargePlan } from './large-plan.ts';
import { measureEvents, measureGrowingLog } from './live.ts';
import { measureLongLog } from './long-log.ts';
import { measureServer } from './server-times.ts';
import { type Amounts, openStage, type Stage } from './stage.ts';
import { measureTransfer } from './transfer.ts';
import { measureVitals } from './vitals.ts';

const amounts: Amounts = { runs: 1_000_000, logLines: 1_000_000 };
/** The pages with a row of their own; of all others, the slowest has one. */
const shownPages = ['home', 'runs', 'runs-of-team', 'run-needs-approval', 'approvals', 'instances', 'catalog', 'audit'];
const serverLimit = { below: 100 };

export const ui: Benchmark = {
  name: 'ui',
  about:
    `The pages of an installation of ${amounts.runs.toLocaleString('en')} runs, in Chromium without a window, on the machine that also runs the ` +
    'service. "Compressed" counts the bytes of all answers until a page is loaded: first with an empty cache, then the next page. LCP, CLS and ' +
    'INP are measured at a quarter of the processor’s speed, and 10 Mbit/s with 40 ms. The times of the server are 95th percentiles of ' +
    'one request at a time until the last byte. "Event to pixel" is the time from the commit of a comment until the page of ' +
    `somebody else shows it. The log has ${amounts.logLines.toLocaleString('en')} lines.`,
  run: async (testbed) => {
    const stage = await openStage(testbed, amounts);
    try {
      return [...(await measureInBrowser(testbed, stage)), ...(await measurePages(testbed, stage))];
    } finally {
      await stage.close();
    }
  },
};

/** What each measure counts, and the most that it should be. */
const limits: Readonly<Record<string, readonly [unit: string, most: number]>> = {
  'first page, compressed': ['KiB', 60],
  'next page, compressed': ['KiB', 20],
  'runs: LCP': ['ms', 1000],
  'runs: CLS': ['', 0.02],
  'runs: INP': ['ms', 100],
  'run: LCP': ['ms', 1000],
  'run: CLS': ['', 0.02],
  'run: INP': ['ms', 100],
  'event to pixel, p95': ['ms', 500],
  'log: first lines': ['ms', 300],
  'log: jump into the middle': ['ms', 100],
  'log: frame while scrolling, p95': ['ms', 20],
  'log: memory of the page': ['MiB', 20],
  'longest task at 5,000 lines/s': ['ms', 50],
  'plan of 5,000 changes: shown': ['ms', 1000],
  'plan of 5,000 changes: sent': ['KiB', 150],
};

async function measureInBrowser(testbed: Testbed, stage: Stage): Promise<Comparison[]> {
  const samples: Sample[] = [];
  // The first round is a warm-up and is discarded.
  for (let round = 0; round <= testbed.rounds; round += 1) {
    const sample = {
      ...(await measureTransfer(stage)),
      ...(await measureVitals(stage)),
      ...(await measureLargePlan(stage)),
      ...(await measureLongLog(stage, amounts.logLines)),
      ...(await measureEvents(stage)),
      ...(await measureGrowingLog(stage)),
    };
    testbed.report(`${round === 0 ? 'warm-up' : `round ${round}/${testbed.rounds}`}: ${describe(sample)}`);
    if (round > 0) samples.push(sample);
  }
  return Object.entries(limits).map(([what, [unit, below]]) => ({
    what,
    unit,
    service: { arm: 'pages', values: valuesOf(samples, what) },
    other: null,
    target: { below },
  }));
}

async function measurePages(testbed: Testbed, stage: Stage): Promise<Comparison[]> {
  const samples: Sample[] = [];
  for (let round = 1; round <= testbed.rounds; round += 1) samples.push(await measureServer(stage));
  const names = Object.keys(samples[0] ?? {});
  const middle = (name: string) => Math.max(...valuesOf(samples, name));
  const slowest = names
    .filter((name) => !shownPages.includes(name))
    .sort((one, other) => middle(other) - middle(one))[0];
  const rows = names.filter((name) => shownPages.includes(name) || name === slowest);
  testbed.report(`${names.length} pages were asked for`);
  return rows.map((name) => ({
    what: `server, p95: ${name}${name === slowest ? `, the slowest of ${names.length - shownPages.length} others` : ''}`,
    unit: 'ms',
    service: { arm: name, values: valuesOf(samples, name) },
    other: null,
    target: serverLimit,
  }));
}

function describe(sample: Sample): string {
  return Object.entries(sample)
    .map(([name, value]) => `${name} ${value.toPrecision(3)}`)
    .join(', ');
}
