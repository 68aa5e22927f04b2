import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Comparison, Target } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { type Creation, createMonitors, deployInstances } from '../load/monitors.ts';
import { createTenant, publish } from '../load/tenant.ts';
import { percentile } from '../report/statistics.ts';
import { countByWindow, spreadFigures, spreadOfChance } from '../report/windows.ts';
import { readMemory } from '../resources/processes.ts';
import { type Cpu, parts, readCpu } from '../resources/service-cpu.ts';

const count = Number(process.env['BENCH_MONITORS'] ?? 10_000);
/** With 10,000 monitors, each scans every two hours: 14 scans in ten seconds. Fewer monitors scan more often, up to every five minutes. */
const minutesBetween = Math.max(5, Math.round((count * 120) / 10_000));
const minutesPerRound = 2;
const windowSeconds = 10;

const quick = [{ name: 'look', run: ['sh', '-c', `echo '[{"address": "it", "action": "create"}]' > plan.json`] }];
const spec = {
  executor: {
    kind: 'command',
    plan: quick,
    apply: [{ name: 'nothing', run: ['true'] }],
    detect: [{ name: 'look', run: ['sh', '-c', `echo '[]' > plan.json`] }],
  },
};

export const monitors: Benchmark = {
  name: 'monitors',
  about:
    `${count.toLocaleString('en')} drift monitors in one installation, each with a schedule of the engine that starts a scan every ${minutesBetween} minutes. They are created by ` +
    `requests, 16 at a time, and then one worker scans by their schedules, for ${minutesPerRound} minutes in each round; \`detect\` writes an empty result. The scans that start in ` +
    `${windowSeconds} s are compared with as many scans at random times: spread evenly, they differ no more than those. "Recorded" is the time from the row of a scan to its ` +
    'recorded result, with everything that the service does in between. The processor time is that of all its processes, with the upkeep of all schedules, divided by the scans.',
  run: async (testbed) => {
    const installation = await testbed.open('monitors', { settings: { WORKER_CONCURRENCY: '4' } });
    try {
      await installation.startWorker();
      return await measure(testbed, installation);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation): Promise<Comparison[]> {
  const { http } = installation;
  const { teamId, environmentId } = await createTenant(http);
  const request = { template_id: await publish(http, teamId, 'looks', spec), environment_id: environmentId };
  const instanceIds = await deployInstances(installation, { request, count });
  const created = await createMonitors(installation, { instanceIds, every: `PT${minutesBetween}M` });
  testbed.report(
    `created ${count} monitors in ${created.requests.toFixed(0)} s, their schedules in ${created.schedules.toFixed(0)} s`,
  );
  const rounds: Round[] = [];
  for (let round = 0; round < testbed.rounds; round += 1) {
    rounds.push(await measureRound(installation));
    testbed.report(`round ${round + 1}/${testbed.rounds}: ${rounds.at(-1)?.scans.length} scans started`);
  }
  await sleep(5_000);
  const ends = await countEnds(installation, rounds);
  testbed.report(`scans ended: ${JSON.stringify(ends)}`);
  return [...creationFigures(created), ...describeSpread(rounds), ...(await describeScans(installation, rounds, ends))];
}

interface Round {
  readonly from: Date;
  readonly until: Date;
  /** When each scan was started, in seconds after the start of the round. */
  readonly scans: readonly number[];
  readonly cpu: Cpu;
  /** MiB, of the worker and its executors. */
  readonly memory: number;
}

async function measureRound(installation: Installation): Promise<Round> {
  const from = new Date();
  const before = readCpu(installation);
  let memory = 0;
  for (let passed = 0; passed < minutesPerRound * 60; passed += windowSeconds) {
    await sleep(from.getTime() + (passed + windowSeconds) * 1000 - Date.now());
    memory = Math.max(memory, readMemory([installation.workerPid()]));
  }
  const after = readCpu(installation);
  const until = new Date(from.getTime() + minutesPerRound * 60_000);
  const { rows } = await installation.database.query<{ at: number }>(
    `select extract(epoch from created_at - $1::timestamptz)::float8 as at from drift_scans where created_at >= $1 and created_at < $2`,
    [from, until],
  );
  const cpu = Object.fromEntries(parts.map((part) => [part, after[part] - before[part]])) as Cpu;
  return { from, until, scans: rows.map(({ at }) => at), cpu, memory };
}

async function countEnds({ database }: Installation, rounds: readonly Round[]): Promise<Record<string, number>> {
  const { rows } = await database.query<{ how: string; scans: number }>(
    `select concat_ws(' ', r.status, r.status_reason, case when s.recorded_at is null then 'unrecorded' end) as how, count(*)::int as scans
       from drift_scans s join runs r on r.id = s.run_id where s.created_at >= $1 and s.created_at < $2 group by 1`,
    [rounds[0]?.from, rounds.at(-1)?.until],
  );
  return Object.fromEntries(rows.map(({ how, scans }) => [how, scans]));
}

function creationFigures({ requests, schedules, firstRate, lastRate }: Creation): Comparison[] {
  return [
    figure(`${count.toLocaleString('en')} monitors created`, 's', [requests]),
    figure('until the engine has all their schedules', 's', [schedules]),
    { ...figure('created, the last tenth', '/s', [lastRate]), other: { arm: 'the first tenth', values: [firstRate] } },
  ];
}

function describeSpread(rounds: readonly Round[]): Comparison[] {
  const perRound = (minutesPerRound * 60) / windowSeconds;
  const windows = rounds.flatMap(({ scans }) => countByWindow(scans, { windows: perRound, seconds: windowSeconds }));
  const found = spreadFigures(windows);
  const chance = spreadOfChance(windows);
  const targets: Record<keyof typeof found, Target | null> = {
    mean: null,
    'standard deviation': { atMost: 1.25 },
    p95: { atMost: 1.25 },
    most: { atMost: 1.5 },
  };
  return (Object.keys(targets) as (keyof typeof found)[]).map((name) => ({
    ...figure(`scans started in ${windowSeconds} s, ${name}`, '', [found[name]]),
    other: { arm: 'random times', values: [chance[name]] },
    target: targets[name],
  }));
}

async function describeScans(
  { database }: Installation,
  rounds: readonly Round[],
  ends: Record<string, number>,
): Promise<Comparison[]> {
  const { rows } = await database.query<{ recorded: number; executed: number }>(
    `select extract(epoch from s.recorded_at - s.created_at)::float8 * 1000 as recorded,
            (select sum(extract(epoch from a.finished_at - a.started_at)) from run_attempts a where a.run_id = s.run_id)::float8 * 1000 as executed
       from drift_scans s where s.created_at >= $1 and s.created_at < $2 and s.outcome = 'succeeded'`,
    [rounds[0]?.from, rounds.at(-1)?.until],
  );
  const started = Object.values(ends).reduce((sum, scans) => sum + scans, 0);
  const own = rows.map(({ recorded, executed }) => recorded - executed);
  const all = rows.map(({ recorded }) => recorded);
  const perScan = (part: keyof Cpu) => rounds.map(({ cpu, scans }) => cpu[part] / Math.max(1, scans.length));
  return [
    figure('scans started', '', [started]),
    figure('scans that succeeded and are recorded', '', [ends['succeeded'] ?? 0]),
    figure('recorded, median', 'ms', [percentile(all, 0.5)]),
    figure('recorded, p99', 'ms', [percentile(all, 0.99)]),
    figure('recorded, without the attempt in the worker, median', 'ms', [percentile(own, 0.5)]),
    figure('recorded, without the attempt in the worker, p99', 'ms', [percentile(own, 0.99)]),
    ...parts.map((part) => figure(`CPU of a scan: ${part}`, 'ms', perScan(part))),
    figure(
      'memory of the worker',
      'MiB',
      rounds.map(({ memory }) => memory),
    ),
  ];
}

function figure(what: string, unit: string, values: readonly number[]): Comparison {
  return { what, unit, service: { arm: 'service', values }, other: null, target: null };
}
