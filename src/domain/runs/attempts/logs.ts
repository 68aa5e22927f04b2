import { createHash } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { type Run, RunAttempt } from '../entity.ts';
import { AttemptSuperseded } from '../errors.ts';
import { checkLogChunk } from './checks.ts';
import { insertChunk, insertSystemLine, type LogQuery, readLog } from './log-store.ts';
import type { LogChunk } from './writes.ts';

/**
 * Stores a chunk. Its time is never before the admission of its run, from which logs are read: the clock of a worker may be
 * slow. Storing the same chunk again changes nothing. The chunks of a run have one order, in which attempts follow each other.
 * @throws AttemptSuperseded where the attempt may no longer write
 * @throws AttemptWriteRefused where it cannot be stored
 */
export async function appendLog(em: Em, attemptId: string, chunk: LogChunk): Promise<void> {
  checkLogChunk(chunk);
  const [row] = await insertChunk(em, { ...chunk, attemptId });
  if (!row?.isLive) throw new AttemptSuperseded(attemptId);
}

/**
 * Adds a line to the log of a run, once, where a worker that does not contain template code executes it. Call it in the
 * transaction that gives the attempt to the worker: the attempt's own output is numbered after the line.
 */
export async function logMissingContainment(em: Em, run: Run, attempt: RunAttempt): Promise<void> {
  const uncontained = await em.count(RunAttempt, { runId: run.id, isolation: 'none' });
  if (uncontained > 1) return;
  const content = Buffer.from(
    `this worker does not contain template code: it cannot enforce the egress policy of the pool "${run.pool}", and template code can reach whatever this machine can\n`,
  );
  await insertSystemLine(em, {
    runId: run.id,
    attemptId: attempt.id,
    sequence: attempt.logBase + 1,
    phase: attempt.phase === 'planning' ? 'plan' : 'apply',
    firstLine: attempt.lineBase,
    content,
    checksum: `sha256:${createHash('sha256').update(content).digest('hex')}`,
  });
  attempt.logBase += 1;
  attempt.lineBase += 1;
}

/** The rest of a log as bytes, a page at a time, however slowly the reader takes them. */
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
