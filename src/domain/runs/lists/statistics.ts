import { type RunStatus, type TerminalStatus, terminalStatuses } from '#domain/shared/vocabulary/runs.ts';
import type { RunCount } from './statistics-store.ts';

/** How many runs ended with each outcome. */
export interface Outcomes extends Readonly<Record<TerminalStatus, number>> {
  readonly unfinished: number;
  /** The median of the seconds from start to end of those that have ended; null if none has. */
  readonly medianSeconds: number | null;
}

export interface RunStatistics {
  readonly days: readonly (Outcomes & { readonly date: string })[];
  readonly total: Outcomes;
}

/** Puts the counts into one entry for each day, in order; a day without runs has zeros. */
export function toStatistics(days: readonly string[], counts: readonly RunCount[]): RunStatistics {
  const byDay = Map.groupBy(counts, ({ day }) => day);
  const byStatus = counts.filter(({ day, status }) => day !== null && status !== null);
  return {
    days: days.map((date) => ({ date, ...toOutcomes(byDay.get(date) ?? []) })),
    total: toOutcomes([...byStatus, ...(byDay.get(null) ?? [])]),
  };
}

function toOutcomes(counts: readonly RunCount[]): Outcomes {
  const sum = (isCounted: (status: RunStatus) => boolean) =>
    counts.reduce((total, { status, runs }) => (status !== null && isCounted(status) ? total + runs : total), 0);
  const finished = terminalStatuses.map((outcome) => [outcome, sum((status) => status === outcome)]);
  const isFinished = (status: RunStatus) => (terminalStatuses as readonly string[]).includes(status);
  return {
    ...(Object.fromEntries(finished) as Record<TerminalStatus, number>),
    unfinished: sum((status) => !isFinished(status)),
    medianSeconds: counts.find(({ status }) => status === null)?.medianSeconds ?? null,
  };
}
