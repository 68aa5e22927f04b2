import { createHash } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import { logPhaseOf } from '#domain/shared/vocabulary/runs.ts';
import type { Isolation } from '#domain/workers/model.ts';
import type { Run, RunAttempt } from '../entity.ts';
import { checkLogChunk } from './checks.ts';
import { findLogEnd, insertChunk, insertSystemLine, type LogQuery, readLog } from './log-store.ts';
import type { LogChunk } from './writes.ts';

/**
 * Stores a chunk. Its time is never before the admission of its run, from which logs are read: the clock of a worker may be
 * slow. Storing the same chunk again changes nothing. The chunks of a run have one order, in which attempts follow each other.
 * @throws AttemptSuperseded if the attempt may no longer write
 * @throws AttemptWriteRefused if it cannot be stored
 */
export async function appendLog(em: Em, attemptId: string, chunk: LogChunk): Promise<void> {
  checkLogChunk(chunk);
  const [row] = await insertChunk(em, { ...chunk, attemptId });
  if (!row?.isLive) throw new AttemptSuperseded(attemptId);
}

/**
 * Begins the log of an attempt with lines from the service: that it repeats its phase, and, once for a run, that its worker
 * does not contain template code. Call it in the transaction that gives the attempt to the worker: the attempt's own output is
 * numbered after these lines. `attempts` are those of the run, oldest first; `isolation` is that of the worker.
 */
export async function beginLog(
  em: Em,
  {
    run,
    attempt,
    attempts,
    isolation,
  }: {
    readonly run: Run;
    readonly attempt: RunAttempt;
    readonly attempts: readonly RunAttempt[];
    readonly isolation: Isolation;
  },
): Promise<void> {
  const begun = attempts.filter(({ workerId, phase }) => workerId && phase === attempt.phase);
  const earlier = begun.filter(({ id }) => id !== attempt.id);
  const last = earlier.at(-1);
  if (last) await addSystemLine(em, attempt, run, describeRepetition(earlier.length, last));
  const isFirstUncontained = attempts.every((other) => other.id === attempt.id || other.isolation !== 'none');
  if (isolation === 'none' && isFirstUncontained) await addSystemLine(em, attempt, run, describeNoContainment(run));
}

function describeRepetition(before: number, { outcome }: RunAttempt): string {
  const reason = outcome === 'lost' ? 'was lost' : 'stopped before it had finished';
  return `attempt ${before + 1}: the worker of attempt ${before} ${reason}`;
}

function describeNoContainment({ pool }: Run): string {
  return `this worker does not contain template code: it cannot enforce the egress policy of the pool "${pool}", and template code can reach whatever this machine can`;
}

/** Adds a line feed first if the last line is open: a lost worker may not have ended it. */
async function addSystemLine(em: Em, attempt: RunAttempt, run: Run, text: string): Promise<void> {
  const last = await findLogEnd(em, run);
  const content = Buffer.from(`${last?.endsInLine ? '\n' : ''}${text}\n`);
  const lines = last?.endsInLine ? 2 : 1;
  await insertSystemLine(em, {
    runId: attempt.runId,
    attemptId: attempt.id,
    sequence: attempt.logBase + 1,
    phase: logPhaseOf(run.operation, attempt.phase),
    firstLine: attempt.lineBase,
    lines,
    content,
    checksum: `sha256:${createHash('sha256').update(content).digest('hex')}`,
  });
  attempt.logBase += 1;
  attempt.lineBase += lines;
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
