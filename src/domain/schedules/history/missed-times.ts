import type { Em } from '#database/database.ts';
import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { everyRow } from '#domain/shared/paging/every-row.ts';
import { nextTimes } from '#domain/shared/schedules/next-times.ts';
import type { Schedule } from '../entity.ts';
import { firingReasons } from '../model.ts';
import { listUnaccounted, skipUnplanned } from '../planned-store.ts';
import { lockSchedule } from '../store.ts';
import { type Firing, keepFiring, listFiringsBetween } from './firings-store.ts';
import { publishFiring } from './publish-firing.ts';

/** How long after its time each firing has its line: a start is tried for ten minutes, after a short random delay. */
const accountedAfterMs = 12 * 60_000;
/** The maximum number of missed times that are recorded: about 40 days of the shortest interval. */
const maxTimes = 12_000;
const pageSize = 500;

type Line = Pick<Firing, 'scheduledAt' | 'lastAt' | 'times'>;

/**
 * Adds a line to the history of each schedule for the times that passed while nothing tried to start its work, because Temporal or all
 * workers were down, or because the engine skipped a time. A time with such a line is no longer started. Several workers may do this at
 * once. Each begins some time after its own start, so that starts that waited for a worker come first.
 */
export async function recordMissedTimes(
  { em, transactions }: { readonly em: Em; readonly transactions: Transactions },
  now = new Date(),
): Promise<void> {
  const until = new Date(now.getTime() - accountedAfterMs);
  await skipUnplanned(em, until);
  for await (const { id, spec, accountedUntil } of everyRow((page) => listUnaccounted(em, until, page), pageSize)) {
    const [next] = nextTimes(spec, id, new Date(accountedUntil), 1);
    if (next && next <= until) await transactions.run((tx) => account(tx, id, until));
  }
}

/** Compares the times of one schedule with its history, under its lock. */
async function account(tx: Transaction, id: string, until: Date): Promise<void> {
  const schedule = await lockSchedule(tx.em, id);
  if (!schedule || schedule.accountedUntil >= until) return;
  for (const line of await findMissed(tx.em, schedule, until)) {
    const firing = { ...line, outcome: 'missed', reason: 'not_tried', message: firingReasons.not_tried } as const;
    await keepFiring(tx.em, { scheduleId: id, ...firing });
    publishFiring(tx, schedule, firing);
  }
  schedule.accountedUntil = until;
  await tx.em.flush();
}

/** The times that are missing in the history; consecutive ones make one line. */
async function findMissed(em: Em, { id, spec, accountedUntil }: Schedule, until: Date): Promise<Line[]> {
  const times = nextTimes(spec, id, accountedUntil, maxTimes).filter((time) => time <= until);
  const firings = await listFiringsBetween(em, id, accountedUntil, until);
  const known = firings.map(({ first, last }) => ({ first: new Date(first), last: new Date(last) }));
  const lines: { scheduledAt: Date; lastAt?: Date; times: number }[] = [];
  let previous: Date | undefined;
  for (const time of times.filter((each) => !known.some(({ first, last }) => first <= each && each <= last))) {
    const line = lines.at(-1);
    const from = previous;
    const isNext = line && from && !known.some(({ first }) => first > from && first < time);
    if (isNext) Object.assign(line, { lastAt: time, times: line.times + 1 });
    else lines.push({ scheduledAt: time, times: 1 });
    previous = time;
  }
  return lines;
}
