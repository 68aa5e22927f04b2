import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare } from '#domain/db.ts';
import type { LogPhase } from '#domain/shared/vocabulary/runs.ts';
import type { Run } from '../entity.ts';
import type { LogChunk } from './writes.ts';

type ChunkOfAttempt = LogChunk & { readonly attemptId: string };

/**
 * Adds a chunk after the chunks of earlier attempts, unless it has been added already. `isLive` says whether the attempt is still the
 * current one of its run. The row of the run stays share-locked until the commit.
 */
export const insertChunk = prepare((db, parameter: ParameterOf<ChunkOfAttempt>) =>
  db
    .with('attempt', (query) =>
      query
        .selectFrom('run_attempts as a')
        .innerJoin('runs as r', (join) => join.onRef('r.id', '=', 'a.runId').onRef('r.attemptId', '=', 'a.id'))
        .where('a.id', '=', parameter('attemptId'))
        .select(['a.runId', 'a.logBase', 'a.lineBase', 'r.createdAt'])
        .forShare('r'),
    )
    .with('kept', (query) =>
      query
        .insertInto('run_log_chunks')
        .columns([
          'runId',
          'sequence',
          'time',
          'attemptId',
          'phase',
          'stream',
          'firstLine',
          'lines',
          'content',
          'checksum',
        ])
        .expression((eb) =>
          eb
            .selectFrom('attempt')
            .select((of) => [
              'attempt.runId',
              of('attempt.logBase', '+', parameter('sequence')).as('sequence'),
              sql<string>`greatest(${parameter('time')}::timestamptz, ${of.ref('attempt.createdAt')})`.as('time'),
              of.val(parameter('attemptId')).as('attemptId'),
              of.val(parameter('phase')).as('phase'),
              of.val(parameter('stream')).as('stream'),
              of('attempt.lineBase', '+', parameter('firstLine')).as('firstLine'),
              of.val(parameter('lines')).as('lines'),
              of.val(parameter('content')).as('content'),
              of.val(parameter('checksum')).as('checksum'),
            ]),
        )
        .onConflict((conflict) => conflict.doNothing()),
    )
    .selectNoFrom((eb) => eb.exists(eb.selectFrom('attempt').select('attempt.runId')).$castTo<boolean>().as('isLive')),
);

interface SystemLine {
  readonly runId: string;
  readonly attemptId: string;
  readonly sequence: number;
  readonly phase: LogPhase;
  readonly firstLine: number;
  readonly lines: number;
  readonly content: Buffer;
  readonly checksum: string;
}

/** Adds a line from the service itself to the log of a run. */
export async function insertSystemLine(em: Em, line: SystemLine): Promise<void> {
  await db(em)
    .insertInto('run_log_chunks')
    .values({
      runId: line.runId,
      sequence: line.sequence,
      time: sql`clock_timestamp()`,
      attemptId: line.attemptId,
      phase: line.phase,
      stream: 'system',
      firstLine: line.firstLine,
      lines: line.lines,
      content: line.content,
      checksum: line.checksum,
    })
    .execute();
}

/** Whether a chunk ends before its last line does: its last byte is no line feed. */
export const endsInLine = sql<boolean>`octet_length(content) > 0 and get_byte(content, octet_length(content) - 1) <> 10`;

/** The number of the last chunk in the log of a run, and the number of lines that have ended up to its end. */
export function findLogEnd(em: Em, { id, createdAt }: Pick<Run, 'id' | 'createdAt'>) {
  return db(em)
    .selectFrom('run_log_chunks')
    .where('runId', '=', id)
    .where('time', '>=', createdAt.toISOString())
    .orderBy('sequence', 'desc')
    .limit((eb) => eb.lit(1))
    .select((eb) => ['sequence', eb('firstLine', '+', eb.ref('lines')).as('lines'), endsInLine.as('endsInLine')])
    .executeTakeFirst();
}

/** A position in the log of a run. */
export interface LogPosition {
  readonly runId: string;
  /** When the run was admitted; no chunk has an earlier time. */
  readonly runCreatedAt: string;
  /** The last sequence that the reader has; 0 for the beginning. */
  readonly after: number;
}

export interface LogQuery extends LogPosition {
  readonly limit: number;
  /** The maximum number of bytes of a page, which always has at least one chunk. */
  readonly maximumBytes: number;
}

/** A chunk of a log for readers. */
export type LogRow = Awaited<ReturnType<typeof readLog>>[number];

const shown = ['sequence', 'time', 'phase', 'stream', 'firstLine', 'lines', 'content'] as const;

/** The next chunks of the log of a run. The cost does not depend on the position in the log. */
export const readLog = prepare((db, parameter: ParameterOf<LogQuery>) => {
  const page = db
    .selectFrom('run_log_chunks')
    .where('runId', '=', parameter('runId'))
    .where('sequence', '>', parameter('after'))
    .where('time', '>=', parameter('runCreatedAt'))
    .orderBy('sequence')
    .limit(parameter('limit'))
    .select(shown);
  const measured = db.selectFrom(page.as('page')).select((eb) => {
    const size = sql<number>`octet_length(${eb.ref('page.content')})`;
    return [
      'sequence',
      'time',
      'phase',
      'stream',
      'firstLine',
      'lines',
      'content',
      size.as('size'),
      sql<number>`sum(${size}) over (order by ${eb.ref('page.sequence')}) - ${size}`.as('before'),
    ];
  });
  return db
    .selectFrom(measured.as('measured'))
    .where((eb) =>
      eb.or([
        eb('before', '=', 0),
        sql<SqlBool>`${eb.ref('before')} + ${eb.ref('size')} <= ${parameter('maximumBytes')}`,
      ]),
    )
    .orderBy('sequence')
    .select(['sequence', 'time', 'phase', 'stream', 'firstLine', 'lines', 'content']);
});

/** The chunks up to a position, last first. */
export const readLogBefore = prepare((db, parameter: ParameterOf<LogPosition & { limit: number }>) =>
  db
    .selectFrom('run_log_chunks')
    .where('runId', '=', parameter('runId'))
    .where('sequence', '<=', parameter('after'))
    .where('time', '>=', parameter('runCreatedAt'))
    .orderBy('sequence', 'desc')
    .limit(parameter('limit'))
    .select(['stream', 'content']),
);
