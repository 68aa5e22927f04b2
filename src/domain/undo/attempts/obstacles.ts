import type { Em } from '#database/database.ts';
import { findRequeueTarget, type RequeueTarget } from '#domain/runs/admission/repeat.ts';
import { targetIsGone } from '#domain/runs/admission/rules.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { findDestructionSince, findPlace, readInstanceNow } from '../deployments/deployments-store.ts';
import { listCheckedAttempts, readAttempt } from '../store.ts';
import { findProblem } from './judge-by-runs.ts';
import { type CheckedInstance, type Destruction, findStaleRefusal, toRefusal } from './rules.ts';

/** The facts about an attempt that decide whether it can take its next step. */
export interface ObstructedAttempt extends CheckedInstance {
  readonly runId: string;
  readonly instanceId: string;
}

/** Why an attempt cannot take any next step. Null if it can, as far as this is visible without opening the inputs of runs. */
export async function findObstacle(em: Em, attempt: ObstructedAttempt, target: RequeueTarget): Promise<Refusal | null> {
  if (!target.admission) return targetIsGone;
  const instance = await readInstanceNow(em, attempt.instanceId);
  const refusal = findArchivedRefusal(target.admission) ?? findStaleRefusal(attempt, instance);
  if (refusal) return refusal;
  const problem = await findProblem(em, target, instance);
  return problem && toRefusal(problem);
}

/** `findObstacle` for a reader of the attempt, without locks. */
export async function readObstacle(em: Em, attempt: ObstructedAttempt): Promise<Refusal | null> {
  const target = await findRequeueTarget(em, attempt.runId, false);
  return target ? findObstacle(em, attempt, target) : targetIsGone;
}

/** The last destroy that changed the instance of a run after the run. */
export async function readDestruction(em: Em, runId: string): Promise<Destruction | undefined> {
  const place = await findPlace(em, runId);
  return place && findDestructionSince(em, place);
}

/** Whether the instance of an attempt has changed since the check. */
export async function hasInstanceChanged(em: Em, attemptId: string): Promise<boolean> {
  const attempt = await readAttempt(em, attemptId);
  return !attempt || findStaleRefusal(attempt, await readInstanceNow(em, attempt.instanceId)) !== null;
}

/** The attempts at undoing a run that cannot continue, because their instance has changed since it was checked. */
export async function findOutdated(
  em: Em,
  { runId, instanceId }: Pick<ObstructedAttempt, 'runId' | 'instanceId'>,
): Promise<ReadonlySet<string>> {
  const attempts = await listCheckedAttempts(em, runId);
  const instance = attempts.length > 0 ? await readInstanceNow(em, instanceId) : undefined;
  return new Set(attempts.filter((attempt) => findStaleRefusal(attempt, instance)).map(({ id }) => id));
}
