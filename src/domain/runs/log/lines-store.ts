import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare } from '#domain/db.ts';
import { endsInLine, type LogPosition } from '../attempts/log-store.ts';

/** The log of a run. No chunk has an earlier time than the run's admission. */
export type LogOfRun = Omit<LogPosition, 'after'>;

/**
 * The chunk in which a line ends: the last one that begins before the next line. `line` counts from 0. One probe of an index, wherever the
 * line lies.
 */
export const findChunkWhereLineEnds = prepare((db, parameter: ParameterOf<LogOfRun & { line: number }>) =>
  db
    .selectFrom('run_log_chunks')
    .where('run_id', '=', parameter('runId'))
    .where('time', '>=', parameter('runCreatedAt'))
    .where('first_line', '<=', parameter('line'))
    .orderBy('first_line', 'desc')
    .orderBy('sequence', 'desc')
    .limit((eb) => eb.lit(1))
    .select('sequence'),
);

/** How many lines a log has, with a last one that has no end yet. `upTo`: the last chunk that counts. */
export async function countLines(em: Em, { runId, runCreatedAt, upTo }: LogOfRun & { upTo: number }): Promise<number> {
  const last = await db(em)
    .selectFrom('run_log_chunks')
    .where('run_id', '=', runId)
    .where('time', '>=', runCreatedAt)
    .where('sequence', '<=', upTo)
    .orderBy('sequence', 'desc')
    .limit((eb) => eb.lit(1))
    .select((eb) => [eb('first_line', '+', eb.ref('lines')).as('ended'), endsInLine.as('endsInLine')])
    .executeTakeFirst();
  return last ? last.ended + (last.endsInLine ? 1 : 0) : 0;
}

/**
 * The attempts of a run, oldest first, and where the log of each begins: `begin` counts the lines before it. The attempts follow each other in the log,
 * so it begins where the last chunk of an earlier one ends. A line that the earlier attempt did not end belongs to the earlier one.
 */
export function readAttemptsOfLog(em: Em, { runId, runCreatedAt }: LogOfRun) {
  return db(em)
    .selectFrom('run_attempts as a')
    .innerJoin('runs as r', 'r.id', 'a.run_id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('run_log_chunks as c')
          .whereRef('c.run_id', '=', 'a.run_id')
          .whereRef('c.sequence', '<=', 'a.log_base')
          .whereRef('c.attempt_id', '<>', 'a.id')
          .where('c.time', '>=', runCreatedAt)
          .orderBy('c.sequence', 'desc')
          .limit((of) => of.lit(1))
          .select((of) => [of('c.first_line', '+', of.ref('c.lines')).as('ended'), endsInLine.as('endsInLine')])
          .as('before'),
      (join) => join.onTrue(),
    )
    .where('a.run_id', '=', runId)
    .orderBy('a.log_base')
    .orderBy('a.started_at')
    .select([
      'a.phase',
      'r.operation',
      'a.outcome',
      'a.started_at as startedAt',
      'a.finished_at as finishedAt',
      'before.ended',
      'before.endsInLine',
    ])
    .execute();
}
