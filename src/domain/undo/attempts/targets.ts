import type { Em } from '#database/database.ts';
import { lockForChange } from '#database/row-lock.ts';
import { findRequeueTarget, type RequeueTarget } from '#domain/runs/admission/repeat.ts';
import { Run } from '#domain/runs/entity.ts';
import { findRun, type RunTarget } from '#domain/runs/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { findOwningTeam } from '#domain/shared/ownership-graph/owning-team.ts';
import { findDestructionSince, findPresentUndo, hasDeployed } from '../deployments/deployments-store.ts';
import { UndoAttempt } from '../entity.ts';
import type { UndoFacts } from './rules.ts';

/** An attempt with the run that it undoes and the present owner of its environment or template. */
export interface AttemptTarget extends RequeueTarget {
  readonly attempt: UndoAttempt;
}

/** An attempt for a command. With `lock`, the owners, the instance, the run and then the attempt are locked. */
export async function findAttemptToChange(em: Em, id: string, lock: boolean): Promise<AttemptTarget | undefined> {
  const found = await em.findOne(UndoAttempt, { id });
  const target = found && (await findRequeueTarget(em, found.runId, lock));
  const attempt = target && lock ? await lockAttempt(em, id) : found;
  return target && attempt ? { ...target, attempt } : undefined;
}

export function lockAttempt(em: Em, id: string): Promise<UndoAttempt | null> {
  return lockForChange(em, UndoAttempt, { id });
}

/** The owner of an attempt, which is the owner of its run. */
export function findAttemptOwner(em: Em, id: string): Promise<Ownership | undefined> {
  return findOwningTeam(em, 'selective_undo_attempt', id);
}

/** Reads the facts that decide whether a run can be undone. */
export async function readUndoFacts(em: Em, run: Run): Promise<UndoFacts> {
  return {
    operation: run.operation,
    hasDeployed: await hasDeployed(em, run),
    undoneBy: await findPresentUndo(em, run.undoneBy ?? null),
    destruction: await findDestructionSince(em, run),
  };
}

/** A run and its owner, with the facts that decide whether it can be undone. */
export async function findUndoFacts(em: Em, runId: string): Promise<(RunTarget & UndoFacts) | undefined> {
  const [target, run] = await Promise.all([findRun(em, runId), em.findOne(Run, { id: runId })]);
  if (!target || !run) return undefined;
  return { ...target, ...(await readUndoFacts(em, run)) };
}
