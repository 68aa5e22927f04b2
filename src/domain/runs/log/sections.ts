import type { Em } from '#database/database.ts';
import { type AttemptOutcome, type AttemptPhase, type LogPhase, logPhaseOf } from '#domain/shared/vocabulary/runs.ts';
import { type LogOfRun, readAttemptsOfLog } from './lines-store.ts';

/** The part of a log that one attempt has written. */
export interface LogSection {
  readonly phase: LogPhase;
  /** Counts the attempts at this phase, from 1. */
  readonly attempt: number;
  readonly outcome: AttemptOutcome | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** From 1. */
  readonly firstLine: number;
  readonly lines: number;
}

/** The sections of a log of `total` lines, in order. Attempts that have written nothing have none. */
export async function readSections(em: Em, log: LogOfRun, total: number): Promise<LogSection[]> {
  const attempts = await readAttemptsOfLog(em, log);
  const begins = attempts.map(({ ended, endsInLine }) => Math.min(total, (ended ?? 0) + (endsInLine ? 1 : 0)));
  const counts: Record<AttemptPhase, number> = { planning: 0, applying: 0 };
  return attempts
    .map(({ phase, operation, ended: _ended, endsInLine: _endsInLine, ...attempt }, index) => {
      const begin = begins[index] ?? 0;
      counts[phase] += 1;
      const lines = (begins[index + 1] ?? total) - begin;
      return { ...attempt, phase: logPhaseOf(operation, phase), attempt: counts[phase], firstLine: begin + 1, lines };
    })
    .filter(({ lines }) => lines > 0);
}
