import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { WatchedRun } from '../model.ts';
import { selectLastSequence } from '../store.ts';

/** Reads all watched runs in one statement. */
export function readWatchedRuns(em: Em, ids: readonly string[]): Promise<WatchedRun[]> {
  return db(em)
    .selectFrom('runs')
    .where('runs.id', '=', (eb) => eb.fn.any(sql<string[]>`${ids}::uuid[]`))
    .select(['runs.id', 'runs.status', 'runs.phase', 'runs.revision', 'runs.waitingOn'])
    .select((eb) => {
      const lastEvent = eb
        .selectFrom('domain_events as e')
        .where('e.subjectKind', '=', 'run')
        .whereRef('e.subjectId', '=', 'runs.id')
        .select((of) => of.fn.max('e.sequence').as('last'));
      return [
        selectLastSequence(eb).as('lastLogSequence'),
        eb.fn.coalesce(lastEvent.$asScalar(), eb.lit(0)).as('lastEventSequence'),
      ];
    })
    .execute();
}
