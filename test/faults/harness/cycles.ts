import { setTimeout as sleep } from 'node:timers/promises';
import { recorderEgress, startApplyRecorder } from './apply-recorder.ts';
import { checkInvariants, countOutlastedTimeouts } from './checks.ts';
import { type Disruption, type DisruptionContext, disruptionNames, disruptions } from './disruptions.ts';
import { type Installation, openInstallation } from './installation.ts';
import { Load } from './load.ts';
import { openRandom, type Random } from './random.ts';
import { settle } from './settle.ts';
import { publishRunKinds } from './templates.ts';

export interface CyclesOptions {
  readonly seed: number;
  readonly cycles: number;
  /** The disruptions of each cycle. Default: random ones. */
  readonly disruptions?: readonly (readonly Disruption[])[];
  readonly runsPerCycle?: number;
  /** After this time no further cycle begins. */
  readonly timeLimitMs?: number;
  /** The directory of bundled workflows that its workers share with others. Default: one of its own. */
  readonly cache?: string | undefined;
  readonly report: (line: string) => void;
}

export interface CyclesReport {
  readonly cycles: number;
  readonly runs: number;
  readonly ends: Record<string, number>;
  readonly disruptions: Record<string, number>;
  /** The number of applies that continued and succeeded although Temporal considered their worker lost. */
  readonly outlasted: number;
  readonly settledInSeconds: number[];
  readonly violations: readonly string[];
  readonly directory: string;
}

const settleWithinMs = 120_000;
const loadMs = 6_000;

/**
 * Disrupts an installation repeatedly while it works. After each cycle, it waits until the installation is idle and checks
 * that nothing was lost, doubled or left behind. The first cycle that finds a violation is the last one.
 */
export async function runCycles(options: CyclesOptions): Promise<CyclesReport> {
  const installation = await openInstallation({ cache: options.cache });
  try {
    const recorder = await startApplyRecorder(installation.directory);
    const context = await prepare(installation, recorder.port, options.seed);
    const remaining: Disruption[] = [];
    const counts: Record<string, number> = {};
    const settledInSeconds: number[] = [];
    const deadline = Date.now() + (options.timeLimitMs ?? Number.POSITIVE_INFINITY);
    for (let cycle = 0; cycle < options.cycles && Date.now() < deadline; cycle += 1) {
      const chosen = options.disruptions?.[cycle % options.disruptions.length] ?? draw(remaining, context.random);
      const seconds = await runCycle(context, chosen, options.runsPerCycle ?? 14, recorder.path);
      for (const name of chosen) counts[name] = (counts[name] ?? 0) + 1;
      settledInSeconds.push(seconds);
      const runs = `${context.load.admissions.length} runs so far`;
      options.report(`cycle ${cycle + 1}: ${chosen.join('; ')}: idle after ${seconds.toFixed(1)} s, ${runs}`);
      if (installation.violations.length > 0) break;
    }
    const report = { ...(await summarize(context)), disruptions: counts, settledInSeconds };
    recorder.close();
    await installation.close(installation.violations.length > 0);
    return { ...report, cycles: settledInSeconds.length };
  } catch (error) {
    await installation.close(true);
    options.report(`the logs are in ${installation.directory}`);
    throw error;
  }
}

async function prepare(installation: Installation, recorderPort: number, seed: number): Promise<DisruptionContext> {
  // By SQL, because the API rejects loopback addresses, and the recorder listens on loopback only.
  await installation.query(
    `insert into worker_pools (name, egress, created_at) values ('default', $1, clock_timestamp())`,
    [JSON.stringify(recorderEgress)],
  );
  const kinds = await publishRunKinds(installation.requester, recorderPort);
  const load = new Load(installation, kinds, openRandom(seed, 'load'));
  // The purpose is part of the seed: another word would change the choices of every known seed.
  return { installation, load, kinds, random: openRandom(seed, 'blows') };
}

/** @returns after how many seconds the installation was idle */
async function runCycle(
  context: DisruptionContext,
  chosen: readonly Disruption[],
  runs: number,
  recordedApplies: string,
): Promise<number> {
  const { installation, load, random } = context;
  load.start(runs, loadMs);
  for (const name of chosen) {
    await sleep(random.between(300, 2_500));
    await disruptions[name](context);
  }
  await load.admitted();
  const seconds = await settle(installation, load, settleWithinMs);
  await load.end();
  await checkInvariants(installation, load, recordedApplies);
  return seconds;
}

async function summarize({ installation, load }: DisruptionContext) {
  return {
    runs: load.admissions.length,
    ends: await countEnds(installation),
    outlasted: await countOutlastedTimeouts(installation, load),
    violations: installation.violations,
    directory: installation.directory,
  };
}

/** Draws one or two disruptions. None is repeated before all have been drawn. */
function draw(remaining: Disruption[], random: Random): Disruption[] {
  if (remaining.length < 2)
    remaining.push(...random.shuffle(disruptionNames.filter((name) => !remaining.includes(name))));
  return remaining.splice(0, random.whole(1, 2));
}

async function countEnds(installation: Installation): Promise<Record<string, number>> {
  const rows = await installation.query<{ how: string; runs: number }>(
    `select concat_ws(' ', status, status_reason) as how, count(*)::int as runs from runs group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ how, runs }) => [how, runs]));
}
