import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { RunPhase, RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import { selectLastSequence } from '../store.ts';

/** What can change about a run that a client watches. */
export interface WatchedRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly phase: RunPhase;
  readonly revision: number;
  readonly waitingOn: WaitingOn | null;
  /** The number of the last chunk of its log; 0 before the first. */
  readonly lastLogSequence: number;
  /** The number of its last event. Events are numbered in the order of their commits, so none before it is still to come. */
  readonly lastEventSequence: number;
}

/** Reads all watched runs in one statement. */
export function readWatchedRuns(em: Em, ids: readonly string[]): Promise<WatchedRun[]> {
  return db(em)
    .selectFrom('runs')
    .where('runs.id', '=', (eb) => eb.fn.any(sql<string[]>`${ids}::uuid[]`))
    .select(['runs.id', 'runs.status', 'runs.phase', 'runs.revision', 'runs.waiting_on as waitingOn'])
    .select((eb) => {
      const lastEvent = eb
        .selectFrom('domain_events as e')
        .where('e.subject_kind', '=', 'run')
        .whereRef('e.subject_id', '=', 'runs.id')
        .select((of) => of.fn.max('e.sequence').as('last'));
      return [
        selectLastSequence(eb).as('lastLogSequence'),
        eb.fn.coalesce(lastEvent.$asScalar(), eb.lit(0)).as('lastEventSequence'),
      ];
    })
    .execute();
}
