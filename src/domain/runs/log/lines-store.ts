import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare } from '#domain/db.ts';
import { endsInLine, type LogPosition } from '../attempts/log-store.ts';

/** The log of a run. No chunk has an earlier time than the run's admission. */
export type LogOfRun = Omit<LogPosition, 'after'>;

/**
 * The chunk in which a line ends: the last one that begins before the next line. `line` counts from 0. It costs one probe of an index for
 * any line.
 */
export const findChunkWhereLineEnds = prepare((db, parameter: ParameterOf<LogOfRun & { line: number }>) =>
  db
    .selectFrom('run_log_chunks')
    .where('runId', '=', parameter('runId'))
    .where('time', '>=', parameter('runCreatedAt'))
    .where('firstLine', '<=', parameter('line'))
    .orderBy('firstLine', 'desc')
    .orderBy('sequence', 'desc')
    .limit((eb) => eb.lit(1))
    .select('sequence'),
);

/** How many lines a log has, with a last one that has no end yet. `upTo`: the last chunk that counts. */
export async function countLines(em: Em, { runId, runCreatedAt, upTo }: LogOfRun & { upTo: number }): Promise<number> {
  const last = await db(em)
    .selectFrom('run_log_chunks')
    .where('runId', '=', runId)
    .where('time', '>=', runCreatedAt)
    .where('sequence', '<=', upTo)
    .orderBy('sequence', 'desc')
    .limit((eb) => eb.lit(1))
    .select((eb) => [eb('firstLine', '+', eb.ref('lines')).as('ended'), endsInLine.as('endsInLine')])
    .executeTakeFirst();
  return last ? last.ended + (last.endsInLine ? 1 : 0) : 0;
}

/**
 * The attempts of a run, oldest first, and where the log of each begins: `begin` counts the lines before it. The attempts follow each other
 * in the log, so it begins where the last chunk of an earlier one ends. A line that the earlier attempt did not end belongs to the earlier
 * one.
 */
export function readAttemptsOfLog(em: Em, { runId, runCreatedAt }: LogOfRun) {
  return db(em)
    .selectFrom('run_attempts as a')
    .innerJoin('runs as r', 'r.id', 'a.runId')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('run_log_chunks as c')
          .whereRef('c.runId', '=', 'a.runId')
          .whereRef('c.sequence', '<=', 'a.logBase')
          .whereRef('c.attemptId', '<>', 'a.id')
          .where('c.time', '>=', runCreatedAt)
          .orderBy('c.sequence', 'desc')
          .limit((of) => of.lit(1))
          .select((of) => [of('c.firstLine', '+', of.ref('c.lines')).as('ended'), endsInLine.as('endsInLine')])
          .as('before'),
      (join) => join.onTrue(),
    )
    .where('a.runId', '=', runId)
    .orderBy('a.logBase')
    .orderBy('a.startedAt')
    .select(['a.phase', 'r.operation', 'a.outcome', 'a.startedAt', 'a.finishedAt', 'before.ended', 'before.endsInLine'])
    .execute();
}
