import { LockMode } from '@mikro-orm/core';
import type { Em } from '#database/database.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { Run, RunAttempt } from '../entity.ts';
import type { AttemptOutcome, AttemptPhase, StatusReason, TerminalStatus } from '../model.ts';
import { publishRunEvent } from '../publish-event.ts';
import { releaseSlot } from './slot.ts';

/** The run with its row locked until the commit, after its instance's: the order of locks. Null where there is none. */
export async function lockRunInOrder(em: Em, runId: string): Promise<Run | null> {
  await em.execute(`select 1 from instances where id = (select instance_id from runs where id = ?) for update`, [
    runId,
  ]);
  return em.findOne(Run, { id: runId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** An attempt and its run, locked in the same way. */
export async function lockAttemptInOrder(em: Em, attemptId: string): Promise<{ run: Run; attempt: RunAttempt }> {
  const [row] = await em.execute<{ run_id: string }[]>(
    `select a.run_id from run_attempts a join runs r on r.id = a.run_id join instances i on i.id = r.instance_id
      where a.id = ? for update of i`,
    [attemptId],
  );
  if (!row) throw new Error(`there is no attempt ${attemptId}`);
  const [run, attempt] = await Promise.all([
    em.findOneOrFail(Run, { id: row.run_id }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    em.findOneOrFail(RunAttempt, { id: attemptId }),
  ]);
  return { run, attempt };
}

/**
 * Ends a run: status, reason, times and event. Its plan's artifact is deleted, its slot is released, and the next run in
 * line is woken. The one way to a terminal status.
 */
export async function finishRun(
  tx: Transaction,
  run: Run,
  status: TerminalStatus,
  reason: StatusReason | null = null,
): Promise<void> {
  run.moveTo(status, 'finished');
  run.statusReason = reason;
  run.finishedAt = new Date();
  run.attemptId = null;
  await tx.em.flush();
  publishRunEvent(tx, run, 'run.finished', { status, reason });
  await tx.em.execute(`update run_plans set artifact = null where run_id = ? and artifact is not null`, [run.id]);
  await releaseSlot(tx, run);
}

/** Opens an attempt at a phase. Its id is the fencing token: from here on no older attempt of the run writes anything. */
export async function openAttempt(em: Em, run: Run, phase: AttemptPhase): Promise<RunAttempt> {
  const [last] = await em.execute<{ sequence: number; lines: number }[]>(
    `select sequence, first_line + lines as lines from run_log_chunks
      where run_id = ? and time >= ? order by sequence desc limit 1`,
    [run.id, run.createdAt],
  );
  const attempt = em.create(RunAttempt, {
    id: newId(),
    runId: run.id,
    phase,
    logBase: last?.sequence ?? 0,
    lineBase: last?.lines ?? 0,
    startedAt: new Date(),
  });
  em.persist(attempt);
  run.attemptId = attempt.id;
  await em.flush();
  return attempt;
}

export function closeAttempt(attempt: RunAttempt, outcome: AttemptOutcome): void {
  attempt.outcome = outcome;
  attempt.finishedAt = new Date();
}
