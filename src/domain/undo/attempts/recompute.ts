import { admissionOf } from '#domain/runs/admission/repeat.ts';
import type { AdmissionTarget } from '#domain/runs/admission/target.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { type Candidate, digestCandidate } from '../candidate/candidate.ts';
import { isProblem } from '../deployments/deployments.ts';
import { readInstanceNow } from '../deployments/deployments-store.ts';
import type { UndoDeps } from './check.ts';
import { judgeByRuns } from './judge-by-runs.ts';
import { findObstacle } from './obstacles.ts';
import { stale, toRefusal } from './rules.ts';
import type { AttemptTarget } from './targets.ts';

/**
 * Computes the candidate of a locked attempt again, because an attempt stores no secrets. So an attempt cannot continue if the runs that
 * contain the secrets were deleted, and the caller needs the authority to use these secrets.
 * @throws ActionRefused if the instance has changed, if a run may change it, or if the candidate is not the one that was checked
 */
export async function recomputeCandidate(
  tx: Transaction,
  deps: UndoDeps,
  target: AttemptTarget,
  by: Principal,
): Promise<{ candidate: Candidate; admission: AdmissionTarget }> {
  const { attempt } = target;
  throwIfRefused(await findObstacle(tx.em, attempt, target));
  const admission = admissionOf(target);
  const instance = await readInstanceNow(tx.em, attempt.instanceId);
  const judged = await judgeByRuns(tx.em, deps.keyRing, target, instance, by);
  if (isProblem(judged)) throw new ActionRefused(toRefusal(judged));
  const { candidate, problem } = judged;
  if (problem) throw new ActionRefused(toRefusal(problem));
  const { bindingKey } = deps.installation;
  const isSame = candidate && digestCandidate(bindingKey, attempt.id, candidate) === attempt.candidate?.digest;
  if (!candidate || !isSame) throw new ActionRefused(stale('what would be deployed is no longer what was checked'));
  return { candidate, admission };
}
