import { setTimeout as sleep } from 'node:timers/promises';
import { type Blow, blowNames, blows } from './blows.ts';
import { checkAll, countOutlasted } from './checks.ts';
import { deedsEgress, openDeeds } from './deeds.ts';
import { type Installation, openInstallation } from './installation.ts';
import { Load } from './load.ts';
import { settle } from './quiescence.ts';
import { openRandom, type Random } from './random.ts';
import { publishKinds } from './templates.ts';

export interface CyclesOptions {
  readonly seed: number;
  readonly cycles: number;
  /** Blows of each cycle; chosen by chance where none are named. */
  readonly blows?: readonly (readonly Blow[])[];
  readonly runsPerCycle?: number;
  /** No further cycle begins after so long. */
  readonly atMostMs?: number;
  readonly report: (line: string) => void;
}

export interface CyclesReport {
  readonly cycles: number;
  readonly runs: number;
  readonly ends: Record<string, number>;
  readonly blows: Record<string, number>;
  /** Applies that went on while the engine had taken their worker for lost. */
  readonly outlasted: number;
  readonly settledInSeconds: number[];
  readonly faults: readonly string[];
  readonly directory: string;
}

const settleWithinMs = 120_000;
const loadMs = 6_000;

/**
 * Breaks an installation again and again while it works, and checks after each time, once all has come to rest, that
 * nothing was lost, doubled or left behind. Ends with the first cycle that finds a fault.
 */
export async function runCycles(options: CyclesOptions): Promise<CyclesReport> {
  const installation = await openInstallation();
  try {
    const deeds = await openDeeds(installation.directory);
    // Past the API, which refuses loopback: the server of the deeds listens nowhere else.
    await installation.query(
      `insert into worker_pools (name, egress, created_at) values ('default', $1, clock_timestamp())`,
      [JSON.stringify(deedsEgress)],
    );
    const kinds = await publishKinds(installation.requester, deeds.port);
    const load = new Load(installation, kinds, openRandom(options.seed, 'load'));
    const struck: Record<string, number> = {};
    const settledInSeconds: number[] = [];
    const choices = openRandom(options.seed, 'blows');
    const bag: Blow[] = [];
    const deadline = Date.now() + (options.atMostMs ?? Number.POSITIVE_INFINITY);
    for (let cycle = 0; cycle < options.cycles && Date.now() < deadline; cycle += 1) {
      const chosen = options.blows?.[cycle % options.blows.length] ?? draw(bag, choices);
      load.start(options.runsPerCycle ?? 14, loadMs);
      for (const name of chosen) {
        await sleep(choices.between(300, 2_500));
        await blows[name]({ installation, load, kinds, random: choices });
        struck[name] = (struck[name] ?? 0) + 1;
      }
      await load.admitted();
      const seconds = await settle(installation, load, settleWithinMs);
      settledInSeconds.push(seconds);
      await load.end();
      await checkAll(installation, load, deeds.path);
      options.report(
        `cycle ${cycle + 1}: ${chosen.join('; ')}: at rest after ${seconds.toFixed(1)} s, ${load.admissions.length} runs so far`,
      );
      if (installation.faults.length > 0) break;
    }
    const [ends, outlasted] = [await countEnds(installation), await countOutlasted(installation, load)];
    deeds.close();
    await installation.close(installation.faults.length > 0);
    const { faults, directory } = installation;
    return {
      cycles: settledInSeconds.length,
      runs: load.admissions.length,
      ends,
      outlasted,
      blows: struck,
      settledInSeconds,
      faults,
      directory,
    };
  } catch (error) {
    await installation.close(true);
    options.report(`logs are kept in ${installation.directory}`);
    throw error;
  }
}

/** One or two blows; every one of them is struck before any comes again. */
function draw(bag: Blow[], random: Random): Blow[] {
  if (bag.length < 2) bag.push(...random.shuffle(blowNames.filter((name) => !bag.includes(name))));
  return bag.splice(0, random.whole(1, 2));
}

async function countEnds(installation: Installation): Promise<Record<string, number>> {
  const rows = await installation.query<{ how: string; runs: number }>(
    `select concat_ws(' ', status, status_reason) as how, count(*)::int as runs from runs group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ how, runs }) => [how, runs]));
}
