import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import { type AdmittedRun, admitRun } from '#domain/runs/admission/admission.ts';
import { buildRun } from '#domain/runs/admission/build-run.ts';
import { openInputsToRepeat } from '#domain/runs/admission/inputs/inputs.ts';
import { targetIsGone } from '#domain/runs/admission/rules.ts';
import type { ResolvedRun } from '#domain/runs/admission/run-request.ts';
import { type AdmissionTarget, findAdmissionTarget } from '#domain/runs/admission/target.ts';
import { authorsOfRun } from '#domain/runs/approval/repeated-authors.ts';
import { Run } from '#domain/runs/entity.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { policyOf, strictestPolicy } from '#domain/shared/vocabulary/approval.ts';
import { DriftEvidence, DriftFinding } from '../entity.ts';
import { type FindingTarget, findFinding } from '../findings/finding-target.ts';
import { placeOf } from '../findings/publish.ts';
import type { RemediationDirection } from '../model.ts';
import { citeEvidence } from '../retention/evidence-store.ts';
import { findRemediationInFlight } from './latest-store.ts';
import {
  directionsOf,
  type EvidenceFacts,
  findDirectionRefusal,
  findRemediationRefusal,
} from './remediation-refusal.ts';

/** A finding that is to be remediated, with the template and the environment of its instance. */
export interface RemediationTarget extends FindingTarget {
  /** Undefined: the template or the environment was deleted. */
  readonly admission: AdmissionTarget | undefined;
}

export interface RemediationRequest {
  readonly evidenceId: string;
  readonly expectedRevision: number;
  readonly direction: RemediationDirection;
}

/** Every remediation needs the approval of another person, even if the policies demand none. */
const reviewed = { required: 1, when: 'always', allow_self: false } as const;

/** Why the people responsible for the repeated run may not approve the remediation. */
const repeated = {
  requested: 'you asked for the run whose inputs it repeats, or for one that that run repeats',
  answers: 'you are responsible for the run whose inputs it repeats',
};

/**
 * A finding to be remediated. With `lock`, it first takes share locks on owners, template and environment, so that the run follows their
 * present policies.
 */
export async function findRemediationTarget(em: Em, id: string, lock: boolean): Promise<RemediationTarget | undefined> {
  const known = await em.findOne(DriftFinding, { id });
  const place = known && (await readPlace(em, known.instanceId));
  if (!place) return undefined;
  const { templateId, environmentId } = place;
  const admission = await findAdmissionTarget(
    em,
    { templateId, ...(environmentId !== null && { environmentId }) },
    lock,
  );
  const target = await findFinding(em, id, lock);
  return target && { ...target, admission };
}

/**
 * Returns the template of the last deployment, not that of the instance: an unfinished run of another template may have claimed an empty
 * instance.
 */
function readPlace(em: Em, instanceId: string) {
  return db(em)
    .selectFrom('instances as i')
    .leftJoin('runs as r', 'r.id', 'i.deployedRunId')
    .where('i.id', '=', instanceId)
    .where('i.deletedAt', 'is', null)
    .select((eb) => [
      eb.fn.coalesce('r.templateId', 'i.templateId').as('templateId'),
      'i.environmentId',
      'i.stateSerial',
      'i.deployedRunId',
    ])
    .executeTakeFirst();
}

/**
 * Admits a run that removes a deviation: `revert` applies the inputs of the last deployment again, `adopt` refreshes the state. The run
 * acts on one piece of evidence. It fails with `stale` if the instance has changed before it begins or applies. The caller has locked the
 * target.
 * @throws ActionRefused if the evidence is stale, the deviation no longer exists, nothing is deployed, or a run already remedies the
 * finding
 */
export async function admitRemediation(
  tx: Transaction,
  keyRing: KeyRing,
  target: RemediationTarget,
  { evidenceId, expectedRevision, direction }: RemediationRequest,
  { key, requester }: { readonly key: string; readonly requester: Principal },
): Promise<AdmittedRun> {
  const { finding, admission } = target;
  if (!admission) throw new ActionRefused(targetIsGone);
  const facts = await readEvidenceFacts(tx.em, finding, evidenceId);
  // The template was read before the instance was locked, so it is checked again.
  const isOfPresentState = facts.isOfPresentState && facts.deployed?.templateId === admission.templateId;
  throwIfRefused(findRemediationRefusal({ ...facts, isOfPresentState }));
  const unsupported = findDirectionRefusal(facts, direction);
  if (unsupported) throw new Unprocessable(unsupported.message, { code: unsupported.code });
  refuseStale(finding, expectedRevision);
  const deployed = facts.deployed as Run;
  const resolve = () => resolveRemediation(tx.em, keyRing, { admission, deployed, finding }, direction);
  const run = await admitRun(tx, key, admission, { instance: deployed.instance, resolve }, requester, {
    links: { driftFindingId: finding.id },
    authors: await authorsOfRun(tx.em, deployed.id, repeated),
    reviewNeeds: deployed.reviewNeeds,
    expects: { stateSerial: facts.stateSerial, deployedRunId: deployed.id },
  });
  tx.write(citeEvidence(tx.em, evidenceId));
  tx.publish({
    type: 'drift_finding.remediation_requested',
    subjectId: finding.id,
    owners: target,
    data: { ...placeOf(finding), by: requester.name, direction, run_id: run.id },
  });
  return run;
}

/** Reads the facts that decide whether a run may act on a piece of evidence. */
export async function readEvidenceFacts(em: Em, finding: DriftFinding, evidenceId: string) {
  const evidence = await em.findOne(DriftEvidence, { id: evidenceId, findingId: finding.id });
  const place = await readPlace(em, finding.instanceId);
  const deployed = place?.deployedRunId ? await em.findOne(Run, { id: place.deployedRunId }) : null;
  const version = deployed && (await loadVersionById(em, deployed.templateVersionId));
  const inFlight = await findRemediationInFlight(em, finding);
  return {
    status: finding.status,
    remediationRunId: inFlight?.id ?? null,
    isLatest: evidence !== null && finding.evidenceId === evidenceId,
    isOfPresentState:
      evidence?.stateSerial === place?.stateSerial && evidence?.deployedRunId === (place?.deployedRunId ?? null),
    isDeployed: deployed !== null && deployed.operation !== 'destroy' && deployed.sealedInputs.length > 0,
    directions: directionsOf(version?.spec.executor.kind ?? 'opentofu'),
    deployed,
    stateSerial: place?.stateSerial ?? 0,
  } satisfies EvidenceFacts & Record<string, unknown>;
}

interface Remediated {
  readonly admission: AdmissionTarget;
  readonly deployed: Run;
  readonly finding: DriftFinding;
}

/**
 * Resolves a run with the version and the inputs of the last deployment, even if newer ones exist. A change that was undone is not part of
 * them.
 */
async function resolveRemediation(
  em: Em,
  keyRing: KeyRing,
  { admission, deployed, finding }: Remediated,
  direction: RemediationDirection,
): Promise<ResolvedRun> {
  const version = await loadVersionById(em, deployed.templateVersionId);
  const what = finding.path === '' ? finding.address : `${finding.address}: ${finding.path}`;
  return buildRun(em, keyRing, admission, version, {
    operation: direction === 'revert' ? 'apply' : 'refresh',
    replace: [],
    instance: deployed.instance,
    requeuedFrom: null,
    message: `${direction === 'revert' ? 'Reverts' : 'Adopts'} the drift of ${what}`.slice(0, 4000),
    approval: strictestPolicy(policyOf(deployed), reviewed),
    shown: deployed.variables,
    inputs: openInputsToRepeat(keyRing, deployed.id, deployed.sealedInputs),
  });
}
