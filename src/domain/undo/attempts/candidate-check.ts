import { admitRun } from '#domain/runs/admission/admission.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { resolveCandidate } from '../candidate/request.ts';
import { findDestructionSince } from '../deployments/deployments-store.ts';
import { CandidateCheck } from '../entity.ts';
import { publishState } from '../publish-event.ts';
import type { UndoDeps } from './check.ts';
import { recomputeCandidate } from './recompute.ts';
import { findStepRefusal } from './rules.ts';
import type { AttemptTarget } from './targets.ts';

/**
 * Plans the candidate by a run of the operation `plan`, which changes nothing and needs no approval. `continueUndoAfterRun` is called when
 * the run has ended.
 * @throws ActionRefused if the attempt is not ready, or the instance has changed
 */
export async function checkCandidate(
  tx: Transaction,
  deps: UndoDeps,
  { key, target }: { key: string; target: AttemptTarget },
  by: Principal,
): Promise<CandidateCheck> {
  const { attempt, run } = target;
  throwIfRefused(findStepRefusal('check_candidate', attempt.state, await findDestructionSince(tx.em, run)));
  const { candidate, admission } = await recomputeCandidate(tx, deps, target, by);
  const message = `Plan of undoing a run of ${run.instance}`;
  const wanted = {
    candidate,
    operation: 'plan',
    message,
    instance: run.instance,
    options: run.options ?? null,
  } as const;
  const resolve = () => resolveCandidate(tx, deps, admission, wanted, by);
  const admitted = await admitRun(tx, key, admission, { instance: run.instance, resolve }, by);
  const check = tx.em.create(CandidateCheck, {
    id: newId(),
    attemptId: attempt.id,
    runId: admitted.id,
    state: 'checking',
    requestedById: by.id,
    requestedByType: by.kind,
    requestedByName: by.name,
    responsibleUserId: by.responsibleUserId,
    createdAt: new Date(),
  });
  tx.em.persist(check);
  attempt.moveTo('candidate_checking');
  attempt.collateral = null;
  await tx.em.flush();
  publishState(tx, attempt, target);
  return check;
}
