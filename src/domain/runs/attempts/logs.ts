import { createHash } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { type Run, RunAttempt } from '../entity.ts';
import { AttemptSuperseded } from '../errors.ts';
import { checkLogChunk } from './checks.ts';
import type { LogChunk } from './writes.ts';

export interface LogRow {
  sequence: number;
  time: string;
  phase: string;
  stream: string;
  first_line: number;
  lines: number;
  content: Buffer;
}

/**
 * Keeps a chunk for good, under no time before its run's admission, from which logs are read: a worker's clock may be
 * behind. The same chunk again is no second one. The order is the run's own: attempts follow each other.
 * @throws AttemptSuperseded where the attempt may write no more
 * @throws AttemptWriteRefused where it cannot be stored
 */
export async function appendLog(em: Em, attemptId: string, chunk: LogChunk): Promise<void> {
  checkLogChunk(chunk);
  const rows = await em.execute<{ live: boolean }[]>(
    `with attempt as (
       select a.run_id, a.log_base, a.line_base, r.created_at from run_attempts a join runs r on r.id = a.run_id and r.attempt_id = a.id
        where a.id = ? for share of r
     ), kept as (
       insert into run_log_chunks (run_id, sequence, time, attempt_id, phase, stream, first_line, lines, content, checksum)
       select run_id, log_base + ?, greatest(?::timestamptz, created_at), ?, ?, ?, line_base + ?, ?, ?, ? from attempt on conflict do nothing
     )
     select exists (select 1 from attempt) as live`,
    [
      ...[attemptId, chunk.sequence, chunk.time, attemptId, chunk.phase, chunk.stream],
      ...[chunk.firstLine, chunk.lines, chunk.content, chunk.checksum],
    ],
  );
  if (!rows[0]?.live) throw new AttemptSuperseded(attemptId);
}

/**
 * Says in a run's log, once, that a worker which does not contain template code executes it. To be called in the transaction
 * that gives the attempt away: what the attempt prints is numbered behind the line.
 */
export async function noteUncontained(em: Em, run: Run, attempt: RunAttempt): Promise<void> {
  const uncontained = await em.count(RunAttempt, { runId: run.id, isolation: 'none' });
  if (uncontained > 1) return;
  const content = Buffer.from(
    `this worker does not contain template code: it cannot enforce the egress policy of the pool "${run.pool}", and template code can reach whatever this machine can\n`,
  );
  const checksum = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  const phase = attempt.phase === 'planning' ? 'plan' : 'apply';
  await em.execute(
    `insert into run_log_chunks (run_id, sequence, time, attempt_id, phase, stream, first_line, lines, content, checksum)
     values (?, ?, clock_timestamp(), ?, ?, 'system', ?, 1, ?, ?)`,
    [run.id, attempt.logBase + 1, attempt.id, phase, attempt.lineBase, content, checksum],
  );
  attempt.logBase += 1;
  attempt.lineBase += 1;
}

export interface LogQuery {
  readonly runId: string;
  readonly runCreatedAt: string | Date;
  /** The last sequence that the reader has; 0 for the beginning. */
  readonly after: number;
  readonly limit: number;
  /** A page ends before it would hold more bytes than this, but for its first chunk. */
  readonly maximumBytes: number;
}

/** The next chunks of a run's log. Costs the same wherever in the log it reads. */
export function readLog(em: Em, { runId, runCreatedAt, after, limit, maximumBytes }: LogQuery): Promise<LogRow[]> {
  return em.execute<LogRow[]>(
    `select sequence, time, phase, stream, first_line, lines, content from (
       select *, sum(octet_length(content)) over (order by sequence) - octet_length(content) as bytes_before from (
         select sequence, time, phase, stream, first_line, lines, content from run_log_chunks
          where run_id = ? and sequence > ? and time >= ? order by sequence limit ?) page) measured
      where bytes_before = 0 or bytes_before + octet_length(content) <= ? order by sequence`,
    [runId, after, runCreatedAt, limit, maximumBytes],
  );
}

/** The whole rest of a log as bytes, a page at a time, for a reader that is as slow as it likes. */
export async function* streamLog(em: Em, query: Omit<LogQuery, 'limit' | 'maximumBytes'>): AsyncGenerator<Buffer> {
  let after = query.after;
  for (;;) {
    const rows = await readLog(em, { ...query, after, limit: 100, maximumBytes: 1024 * 1024 });
    for (const row of rows) yield row.content;
    const last = rows.at(-1);
    if (!last) return;
    after = last.sequence;
  }
}
