import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { RunPhase, RunStatus, WaitingOn } from './model.ts';

/** What changes about a run while somebody watches it. */
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

/** Reads the runs that somebody watches, all in one statement. */
export function readWatchedRuns(em: Em, ids: readonly string[]): Promise<WatchedRun[]> {
  return db(em)
    .selectFrom('runs as r')
    .where('r.id', '=', (eb) => eb.fn.any(sql<string[]>`${ids}::uuid[]`))
    .select(['r.id', 'r.status', 'r.phase', 'r.revision', 'r.waiting_on as waitingOn'])
    .select((eb) => [
      sql<number>`coalesce((select max(c.sequence) from run_log_chunks c
          where c.run_id = ${eb.ref('r.id')} and c.time >= ${eb.ref('r.created_at')}), 0)`.as('lastLogSequence'),
      eb.fn
        .coalesce(
          eb
            .selectFrom('domain_events as e')
            .where('e.subject_kind', '=', 'run')
            .whereRef('e.subject_id', '=', 'r.id')
            .select((event) => event.fn.max('e.sequence').as('sequence')),
          sql<number>`0`,
        )
        .as('lastEventSequence'),
    ])
    .execute();
}
