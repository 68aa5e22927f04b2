import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import { ActionRefused } from '#domain/shared/actions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { policyOf } from '#domain/shared/vocabulary/approval.ts';
import type { Run } from '../entity.ts';
import type { RunTarget } from '../store.ts';
import { findRunToChange } from '../targets.ts';
import type { RunPin } from './admission.ts';
import { buildRun } from './build-run.ts';
import { openInputsToRepeat } from './inputs.ts';
import { refuseStrongPlanSecrets } from './plan-secrets.ts';
import { targetIsGone } from './rules.ts';
import type { ResolvedRun } from './run-request.ts';
import { type AdmissionTarget, findAdmissionTarget } from './target.ts';

/** A run that is to be requeued, with its present owner. */
export interface RequeueTarget extends RunTarget {
  readonly run: Run;
  /** Undefined: the run's template or environment no longer exists. */
  readonly admission: AdmissionTarget | undefined;
}

/**
 * A run to be requeued, for the present owner of its environment or template. With `lock`, the owners, the template, the environment and
 * the run itself are locked, so that the new run follows the policies that apply when it is committed.
 */
export async function findRequeueTarget(em: Em, id: string, lock: boolean): Promise<RequeueTarget | undefined> {
  const source = await findSource(em, id);
  if (!source) return undefined;
  const admission = await findAdmissionTarget(em, source, lock);
  const target = await findRunToChange(em, id, lock);
  if (!target) return undefined;
  const { organizationId, teamId } = admission ?? target;
  return { ...target, organizationId, teamId, admission };
}

/** The target for which a run was admitted. It never changes, so it is read without a lock. */
async function findSource(em: Em, id: string): Promise<{ templateId: string; environmentId?: string } | undefined> {
  const found = await db(em)
    .selectFrom('runs')
    .where('id', '=', id)
    .select(['templateId', 'environmentId'])
    .executeTakeFirst();
  if (!found) return undefined;
  const { templateId, environmentId } = found;
  return { templateId, ...(environmentId !== null && { environmentId }) };
}

/**
 * The state of the instance that a repetition of a run expects: the same as the run itself, so that a repetition cannot evade a decision
 * that was made for one state. Empty if the run itself changed the state: the expected state no longer exists.
 */
export function pinOf({ expectedStateSerial, expectedDeployedRunId, expectedPlanRunId, stateSerialAfter }: Run): {
  readonly expects?: RunPin;
} {
  const isUsedUp = typeof stateSerialAfter === 'number';
  if (typeof expectedStateSerial !== 'number' || !expectedDeployedRunId || isUsedUp) return {};
  const plan = expectedPlanRunId ? { planRunId: expectedPlanRunId } : {};
  return { expects: { stateSerial: expectedStateSerial, deployedRunId: expectedDeployedRunId, ...plan } };
}

/** Call it only after checking that the caller may requeue. @throws ActionRefused if the target no longer exists */
export function admissionOf({ admission }: Pick<RequeueTarget, 'admission'>): AdmissionTarget {
  if (admission) return admission;
  throw new ActionRefused(targetIsGone);
}

/**
 * Resolves a requeue, whose target is locked: a new run with the version and the inputs of an ended one. It demands at least the approval
 * that the ended run demanded, so that a repetition cannot evade what an assembly or an earlier policy demanded.
 */
export async function resolveRequeue(
  em: Em,
  keyRing: KeyRing,
  run: Run,
  target: AdmissionTarget,
): Promise<ResolvedRun> {
  const version = await loadVersionById(em, run.templateVersionId);
  const inputs = openInputsToRepeat(keyRing, run.id, run.sealedInputs);
  await refuseStrongPlanSecrets(em, target, { version, inputs });
  return buildRun(em, keyRing, target, version, {
    operation: run.operation,
    replace: run.replace,
    options: run.options ?? null,
    instance: run.instance,
    message: run.message,
    approval: policyOf(run),
    shown: run.variables,
    inputs,
    requeuedFrom: run.id,
  });
}
