import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { policyOf } from '#domain/shared/vocabulary/approval.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import type { Run } from '../entity.ts';
import type { RunOptions } from '../options/model.ts';
import type { RunTarget } from '../store.ts';
import { findRunToChange } from '../targets.ts';
import type { RunPin } from './admission.ts';
import { buildRun } from './build-run.ts';
import { omitNames, refuseOmittedAndGiven } from './inputs/inherited-inputs.ts';
import { openInputs, openInputsToRepeat, type RunInputs, secretHashOf } from './inputs/inputs.ts';
import { refuseStrongPlanSecrets } from './inputs/plan-secrets.ts';
import { resolveRun } from './resolve.ts';
import { targetIsGone } from './rules.ts';
import type { ResolveDeps, ResolvedRun } from './run-request.ts';
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

/** The changes that a copy makes to its run. Undefined members stay as they were. */
interface CopyChanges {
  readonly version?: string | undefined;
  readonly instance?: string | undefined;
  readonly operation?: RunOperation | undefined;
  readonly replace?: readonly string[] | undefined;
  readonly options?: RunOptions | undefined;
  readonly variables: Record<string, JsonValue>;
  /** Names of variables that are not taken over: the environment's value or the default takes their place. */
  readonly omit: readonly string[];
  readonly message?: string | undefined;
}

/**
 * The state of the instance that a copy expects. A copy that resolves to the same work as its run expects the same state as that run, as a
 * requeue does (`pinOf`). This also holds if the request names values that the run already has, or omits a variable that then gets the same
 * value. A copy that differs is a new run, and expects no state.
 */
export function pinOfCopy(keyRing: KeyRing, run: Run, copy: ResolvedRun): RunPin | undefined {
  const isSameWork =
    copy.templateVersionId === run.templateVersionId &&
    copy.instance === run.instance &&
    copy.operation === run.operation &&
    isDeepStrictEqual(copy.replace, run.replace) &&
    isDeepStrictEqual(copy.options, run.options ?? null);
  if (!isSameWork) return undefined;
  const hash = secretHashOf(keyRing, run.id);
  const before = openInputs(keyRing, run.id, run.sealedInputs);
  const after = openInputs(keyRing, copy.id, copy.sealedInputs);
  const secrets = new Set([...before.sensitive, ...after.sensitive]);
  const compared = ({ variables }: RunInputs) =>
    Object.entries(variables).map(([name, value]) => [name, secrets.has(name) ? hash(value) : value] as const);
  const isSame = isDeepStrictEqual(new Map(compared(before)), new Map(compared(after)));
  return isSame ? pinOf(run).expects : undefined;
}

/**
 * Resolves a copy, whose target is locked: a new run with the version and the variables of an ended one, except for the changes.
 * Secret variables are taken over only if version, instance, variables and what the environment gives stay the same: another
 * version, or another value such as an address, could disclose them. Like a requeue, it demands at least the approval of its run.
 * @throws Invalid for a variable to omit that the copy sets
 * @throws Unprocessable naming everything that is wrong with the variables, and each one to omit that neither the run nor the version has
 */
export function resolveCopy(
  tx: Transaction,
  deps: ResolveDeps,
  { run, target, changes }: { run: Run; target: AdmissionTarget; changes: CopyChanges },
  requester: Principal,
): Promise<ResolvedRun> {
  refuseOmittedAndGiven(changes.omit, changes.variables);
  const opened = openInputsToRepeat(deps.keyRing, run.id, run.sealedInputs);
  const { inputs, omitted, omittedAbsent } = omitNames(opened, changes.omit);
  const { variables, sensitive, sources, environment, reads } = inputs;
  const { instance = run.instance, operation = run.operation, message = run.message } = changes;
  const request = {
    version: changes.version,
    instance,
    operation,
    replace: changes.replace ?? (operation === run.operation ? run.replace : []),
    options: changes.options ?? (operation === run.operation ? (run.options ?? null) : null),
    variables: changes.variables,
    message,
    approval: policyOf(run),
    source: {
      runId: run.id,
      isChanged: instance !== run.instance || omitted.length > 0,
      omittedAbsent,
      deployment: {
        versionId: run.templateVersionId,
        inputs: { variables, sensitive, sources, environment, reads },
      },
    },
    resolvesReferences: true,
  };
  return resolveRun(tx, deps, target, request, requester);
}
