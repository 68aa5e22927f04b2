import type { Em } from '#database/database.ts';
import { loadVersionById, type PublishedVersion } from '#domain/registry/publication/published.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, type Refusal } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { admitRun, type RunOrigin } from '../admission.ts';
import { buildRun } from '../build-run.ts';
import { openInputsToRepeat } from '../inputs/inputs.ts';
import { targetIsGone } from '../rules.ts';
import type { ResolveDeps, ResolvedRun } from '../run-request.ts';
import { type AdmissionTarget, findAdmissionTarget } from '../target.ts';
import { findDeploymentRefusal, nothingDeployed } from './scan-refusal.ts';
import { findLastDeployment, findScannedInstance, type LastDeployment } from './scan-store.ts';

export interface ScanRequest extends Pick<RunOrigin, 'links' | 'parentWorkflowId'> {
  /** The key of the workflow, as for any run. The database refuses a second scan with the same key. */
  readonly key: string;
  readonly instanceId: string;
  /** The requester; `systemPrincipal` if nobody requested it. */
  readonly requester: Principal;
}

export interface AdmittedScan {
  readonly runId: string;
  /** The run that made the deployment that the scan checks. */
  readonly deployedRunId: string;
}

/**
 * Admits a scan: a run that finds out whether an instance is still as it was deployed. It uses the version and the inputs of the last
 * deployment, even if newer ones exist. It succeeds even if it finds changes; `run_plans` has the changes from what should be to what is
 * (`scannedChanges`), and `deviationsOf` lists them. The area that admits it subscribes to `run.finished` and finds its own row by the id
 * of the run.
 *
 * A scan that begins while a run changes the instance ends at once as `canceled` (`gave_way`), and so does one that has begun when a run
 * begins to change it.
 * @throws ActionRefused `nothing_to_run_for`: the instance, its template or its environment is gone. `archived`. `nothing_deployed`: no run
 * has deployed it, or it holds nothing. `operation_unsupported`: its template has no `detect` steps. `pool_closed`
 */
export async function admitScan(
  tx: Transaction,
  { keyRing }: Pick<ResolveDeps, 'keyRing'>,
  { key, instanceId, requester, ...origin }: ScanRequest,
): Promise<AdmittedScan> {
  const scanned = await findScannedInstance(tx.em, instanceId);
  const target = scanned && (await findAdmissionTarget(tx.em, scanned, true));
  if (!target) throw new ActionRefused(targetIsGone);
  const found = await findScannable(tx.em, instanceId);
  // Rules that refuse any run of the target come first, such as an archived target.
  const resolve = async () => resolveScan(tx.em, keyRing, target, refuseUnscannable(found));
  const { id } = await admitRun(tx, key, target, { instance: scanned.name, resolve }, requester, origin);
  return { runId: id, deployedRunId: refuseUnscannable(found).deployment.runId };
}

function refuseUnscannable(found: Scannable | Refusal): Scannable {
  if ('code' in found) throw new ActionRefused(found);
  return found;
}

async function resolveScan(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  { deployment, version }: Scannable,
): Promise<ResolvedRun> {
  const run = await buildRun(em, keyRing, target, version, {
    operation: 'scan',
    replace: [],
    instance: deployment.instance,
    message: '',
    shown: deployment.variables,
    inputs: openInputsToRepeat(keyRing, deployment.runId, deployment.sealedInputs),
    requeuedFrom: null,
  });
  return { ...run, approval: noApproval };
}

interface Scannable {
  readonly deployment: LastDeployment;
  readonly version: PublishedVersion;
}

/** What a scan compares an instance with, or why it cannot be scanned. */
async function findScannable(em: Em, instanceId: string): Promise<Scannable | Refusal> {
  const deployment = await findLastDeployment(em, instanceId);
  if (!deployment) return nothingDeployed;
  const version = await loadVersionById(em, deployment.versionId);
  const { kind } = version.spec.executor;
  const { operation, resourceCount, sealedInputs } = deployment;
  const hasDetect = 'detect' in version.spec.executor && version.spec.executor.detect !== undefined;
  const facts = { operation, resourceCount, hasInputs: sealedInputs.length > 0, executorKind: kind, hasDetect };
  return findDeploymentRefusal(facts) ?? { deployment, version };
}

/** A scan changes nothing, so nobody has to approve it. */
const noApproval = { required: 0, when: 'never', allow_self: true } as const;
