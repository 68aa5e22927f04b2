import type { Em } from '#database/database.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { RunAttempt } from '../entity.ts';
import { closeAttempt, finishRun, lockRunInOrder } from './transitions.ts';

/** A run that the engine was told to start, and that has not ended. */
export interface DispatchedRun {
  readonly id: string;
  readonly workflowId: string;
}

const startIsDue = `exists (select 1 from outbox o where o.subscriber = 'engine' and o.target = r.idempotency_key::text and o.payload->>'kind' = 'start')`;

/**
 * The next unfinished runs, by id, whose start the engine has confirmed. None that is younger than `graceSeconds`: what was
 * only just told may not show yet.
 */
export async function findDispatchedRuns(
  em: Em,
  { after, graceSeconds, limit }: { after: string; graceSeconds: number; limit: number },
): Promise<DispatchedRun[]> {
  const rows = await em.execute<{ id: string; idempotency_key: string }[]>(
    `select r.id, r.idempotency_key from runs r
      where r.finished_at is null and r.id > ? and r.created_at < now() - make_interval(secs => ?) and not ${startIsDue}
      order by r.id limit ?`,
    [after, graceSeconds, limit],
  );
  return rows.map((row) => ({ id: row.id, workflowId: row.idempotency_key }));
}

/**
 * Ends a run whose workflow is gone: nobody else would. False where it has ended meanwhile, or is to be started after all.
 * Its attempt is fenced off; what that still writes to the state is judged as any late state is.
 */
export async function endLostRun(tx: Transaction, runId: string): Promise<boolean> {
  const run = await lockRunInOrder(tx.em, runId);
  if (!run || run.isFinished()) return false;
  const [row] = await tx.em.execute<[{ waits: boolean }]>(`select ${startIsDue} as waits from runs r where r.id = ?`, [
    runId,
  ]);
  if (row.waits) return false;
  const attempt = run.attemptId ? await tx.em.findOne(RunAttempt, { id: run.attemptId }) : null;
  if (attempt && attempt.outcome === null) closeAttempt(attempt, 'lost');
  await finishRun(tx, run, 'failed', 'engine_lost');
  return true;
}
