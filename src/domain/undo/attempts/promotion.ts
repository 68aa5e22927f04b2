import { type AdmittedRun, admitRun } from '#domain/runs/admission/admission.ts';
import { authorsOfRun } from '#domain/runs/approval/repeated-authors.ts';
import type { RunAuthor } from '#domain/runs/model.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { policyOf } from '#domain/shared/vocabulary/approval.ts';
import { resolveCandidate } from '../candidate/request.ts';
import { findDestructionSince } from '../deployments/deployments-store.ts';
import type { UndoAttempt } from '../entity.ts';
import { publishUndoEvent } from '../publish-event.ts';
import type { UndoDeps } from './check.ts';
import { findCollateralRefusal } from './collateral.ts';
import { recomputeCandidate } from './recompute.ts';
import { findStepRefusal, stale } from './rules.ts';
import { findCheckedPlan } from './store.ts';
import type { AttemptTarget } from './targets.ts';

export interface Promotion {
  readonly candidateDigest: string;
  readonly acceptedCollateral: readonly string[];
  readonly message?: string | undefined;
}

/** The maximum length of the message that the run of an undo repeats. */
const maxRepeated = 200;

/** The default message of a run that undoes another: it repeats the message of that run, or names the run. */
function describeUndo({ id, message }: { readonly id: string; readonly message: string }): string {
  const [line = ''] = message.trim().split('\n');
  return line === '' ? `Undo run …${id.slice(-6)}` : `Undo “${[...line].slice(0, maxRepeated).join('')}”`;
}

/**
 * Deploys the candidate by an ordinary run, which plans again, follows every policy, and fails with `stale` if the instance changes before
 * it applies. The run demands at least the approval that the undone run demanded.
 * @throws ActionRefused unless the request names the candidate and the collateral of the last candidate check, and the instance has not
 * changed
 */
export async function promote(
  tx: Transaction,
  deps: UndoDeps,
  { key, target, promotion }: { key: string; target: AttemptTarget; promotion: Promotion },
  by: Principal,
): Promise<AdmittedRun> {
  const { attempt, run } = target;
  throwIfRefused(findStepRefusal('promote', attempt.state, await findDestructionSince(tx.em, run)));
  if (promotion.candidateDigest !== attempt.candidate?.digest)
    throw new ActionRefused(stale('the digest does not name the candidate of this attempt'));
  throwIfRefused(findCollateralRefusal(attempt.collateral ?? [], promotion.acceptedCollateral));
  const { candidate, admission } = await recomputeCandidate(tx, deps, target, by);
  const message = promotion.message || describeUndo(run);
  const options = run.options ?? null;
  const wanted = {
    candidate,
    operation: 'apply',
    message,
    instance: run.instance,
    approval: policyOf(run),
    options,
  } as const;
  const resolve = () => resolveCandidate(tx, deps, admission, wanted, by);
  const admitted = await admitRun(tx, key, admission, { instance: run.instance, resolve }, by, {
    links: { undoes: run.id },
    authors: await findAuthors(tx, run.id, attempt),
    reviewNeeds: run.reviewNeeds,
    expects: {
      stateSerial: attempt.stateSerial,
      deployedRunId: attempt.deployedRunId ?? run.id,
      planRunId: await findCheckedPlan(tx.em, attempt.id),
    },
  });
  attempt.moveTo('promoted');
  attempt.promotedRunId = admitted.id;
  await tx.em.flush();
  publishUndoEvent(tx, attempt, target, 'selective_undo.promoted', { by: by.name, run_id: admitted.id });
  return admitted;
}

/** The people who may not approve the undo: those who answer for the undone change, and the requester of the undo. */
async function findAuthors(tx: Transaction, runId: string, attempt: UndoAttempt): Promise<RunAuthor[]> {
  const person = attempt.responsibleUserId ?? null;
  const changed = await authorsOfRun(tx.em, runId, {
    requested: 'you requested the run that it undoes, or a run that that one repeats',
    answers: 'you are responsible for the run that it undoes',
  });
  return [...changed, { id: attempt.requestedById, person, because: 'you asked for the undo' }];
}
