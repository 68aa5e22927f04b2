import { admissionOf } from '#domain/runs/admission/requeue.ts';
import type { AdmissionTarget } from '#domain/runs/admission/target.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { assess } from '../candidate/assess.ts';
import { type Candidate, digestCandidate } from '../candidate/candidate.ts';
import { dataGone, isProblem, readDeployments } from '../deployments/deployments.ts';
import { findRunInFlight, readInstanceNow } from '../deployments/deployments-store.ts';
import { runInFlight, type UndoDeps } from './check.ts';
import { findStaleRefusal, stale } from './rules.ts';
import type { AttemptTarget } from './targets.ts';

/**
 * Computes the candidate of a locked attempt again. Nothing keeps its secrets, so an attempt outlives neither the runs that they come from nor the
 * authority of whoever goes on with it.
 * @throws ActionRefused if the instance has moved, if a run may change it, or if the candidate is not the one that was checked
 */
export async function recomputeCandidate(
  tx: Transaction,
  deps: UndoDeps,
  target: AttemptTarget,
  by: Principal,
): Promise<{ candidate: Candidate; admission: AdmissionTarget }> {
  const { attempt, run } = target;
  const admission = admissionOf(target);
  refuseArchived(admission);
  if (target.isDeleted) throw new ActionRefused(stale(dataGone(run.id).message));
  throwIfRefused(findStaleRefusal(attempt, await readInstanceNow(tx.em, attempt.instanceId)));
  const inFlight = await findRunInFlight(tx.em, attempt.instanceId);
  if (inFlight) throw new ActionRefused({ code: 'instance_busy', message: runInFlight(inFlight.id).message });
  const deployments = await readDeployments(tx.em, deps.keyRing, run);
  if (isProblem(deployments)) throw new ActionRefused(stale(deployments.message));
  const { candidate, problem } = assess(deployments, run.id, by);
  if (problem) throw new ActionRefused({ code: 'undo_not_ready', message: problem.message });
  const isSame =
    candidate && digestCandidate(deps.bindingKey, attempt.instanceId, candidate) === attempt.candidate?.digest;
  if (!candidate || !isSame) throw new ActionRefused(stale('what would be deployed is no longer what was checked'));
  return { candidate, admission };
}
