import { createHmac } from 'node:crypto';
import type { RequeueTarget } from '#domain/runs/admission/requeue.ts';
import type { ResolveDeps } from '#domain/runs/admission/resolve.ts';
import { admitScan } from '#domain/runs/admission/scan.ts';
import type { AdmissionTarget } from '#domain/runs/admission/target.ts';
import type { Run } from '#domain/runs/entity.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, throwIfRefused } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { newId, toId } from '#domain/shared/ids.ts';
import { type Assessment, assess, showCandidate } from '../candidate/assess.ts';
import type { Candidate } from '../candidate/candidate.ts';
import { resolveCandidate } from '../candidate/request.ts';
import { dataGone, isProblem, readDeployments } from '../deployments/deployments.ts';
import { findRunInFlight, hasDeployed, readInstanceNow } from '../deployments/deployments-store.ts';
import { UndoAttempt } from '../entity.ts';
import { type Problem, stateOf } from '../model.ts';
import { publishState, publishUndoEvent } from '../publish-event.ts';
import { findUndoRefusal } from './rules.ts';

export interface UndoDeps extends ResolveDeps {
  readonly bindingKey: Buffer;
}

/** What is known before the instance itself is compared with its state. */
interface Findings extends Assessment {
  readonly stateSerial: number;
  readonly deployedRunId: string | null;
}

/**
 * Begins an attempt at undoing what a run changed. The rows of the run, its instance and its owners are locked. What the runs alone tell is known
 * at once; if nothing is in the way, a scan tells whether the instance is as its state says.
 * @throws ActionRefused if the run has changed nothing
 */
export async function beginUndo(
  tx: Transaction,
  deps: UndoDeps,
  target: RequeueTarget,
  by: Principal,
): Promise<UndoAttempt> {
  const { run } = target;
  throwIfRefused(findUndoRefusal({ operation: run.operation, hasDeployed: await hasDeployed(tx.em, run) }));
  const findings = await findFindings(tx, deps, target, by);
  const attempt = addAttempt(tx, run, findings, by);
  publishUndoEvent(tx, attempt, target, 'selective_undo.requested', { by: by.name, run_id: run.id });
  if (findings.candidate && !findings.problem) {
    attempt.candidate = await showCandidate(tx.em, deps.bindingKey, run.instanceId, findings.candidate);
    await beginBaseline(tx, deps, attempt, by);
  } else {
    attempt.state = findings.problem ? 'blocked' : stateOf(findings.verdicts);
    attempt.problem = findings.problem;
    attempt.checkedAt = new Date();
  }
  await tx.em.flush();
  if (attempt.state !== 'checking') publishState(tx, attempt, target);
  return attempt;
}

function addAttempt(tx: Transaction, run: Run, findings: Findings, by: Principal): UndoAttempt {
  const { verdicts, changes, stateSerial, deployedRunId } = findings;
  const attempt = tx.em.create(UndoAttempt, {
    id: newId(),
    runId: run.id,
    instanceId: run.instanceId,
    state: 'checking',
    verdicts,
    changes,
    stateSerial,
    deployedRunId,
    requestedById: by.id,
    requestedByType: by.kind,
    requestedByName: by.name,
    responsibleUserId: by.responsibleUserId,
    createdAt: new Date(),
  });
  tx.em.persist(attempt);
  return attempt;
}

async function findFindings(tx: Transaction, deps: UndoDeps, target: RequeueTarget, by: Principal): Promise<Findings> {
  const { run, admission } = target;
  const instance = await readInstanceNow(tx.em, run.instanceId);
  const now = { stateSerial: instance?.stateSerial ?? 0, deployedRunId: instance?.deployedRunId ?? null };
  const blocked = (problem: Problem): Findings => ({ ...now, verdicts: [], changes: [], candidate: null, problem });
  if (!admission || !instance) return blocked(targetGone);
  const archived = findArchivedRefusal(admission);
  if (archived) return blocked({ code: 'archived', message: archived.message, runId: null });
  if (target.isDeleted) return blocked(dataGone(run.id));
  const inFlight = await findRunInFlight(tx.em, run.instanceId);
  if (inFlight) return blocked(runInFlight(inFlight.id));
  const deployments = await readDeployments(tx.em, deps.keyRing, run);
  if (isProblem(deployments)) return blocked(deployments);
  if (deployments.runs.at(-1)?.row.id !== instance.deployedRunId) return blocked(deploymentUnknown);
  const found = assess(deployments, run.id, by);
  const problem =
    found.problem ??
    (found.candidate && (await findInvalid(tx, deps, { run, admission, candidate: found.candidate }, by)));
  return { ...found, ...now, problem };
}

/** Why the candidate could not be admitted as a run. */
async function findInvalid(
  tx: Transaction,
  deps: UndoDeps,
  { run, admission, candidate }: { run: Run; admission: AdmissionTarget; candidate: Candidate },
  by: Principal,
): Promise<Problem | null> {
  try {
    const wanted = { candidate, operation: 'apply', message: '', instance: run.instance } as const;
    await resolveCandidate(tx, deps, admission, wanted, by);
    return null;
  } catch (error) {
    if (!(error instanceof Unprocessable)) throw error;
    return { code: 'candidate_invalid', message: error.message, runId: null };
  }
}

/** Has the instance compared with its state. Where the template cannot do that, nobody knows whether a path is still what the run made it. */
async function beginBaseline(tx: Transaction, deps: UndoDeps, attempt: UndoAttempt, by: Principal): Promise<void> {
  try {
    const key = keyOf(deps.bindingKey, attempt.id);
    const { runId } = await admitScan(tx, deps, { key, instanceId: attempt.instanceId, requester: by });
    attempt.baselineRunId = runId;
  } catch (error) {
    if (!(error instanceof ActionRefused) && !(error instanceof Unprocessable)) throw error;
    const cause = { message: error.message };
    attempt.verdicts = attempt.verdicts.map(({ path }) => ({ path, verdict: 'unknown', cause }));
    attempt.state = 'blocked';
    attempt.problem = { code: 'not_comparable', message: error.message, runId: null };
    attempt.checkedAt = new Date();
  }
}

/** The key is secret until the scan is admitted, so no client can use it first. */
function keyOf(bindingKey: Buffer, attemptId: string): string {
  return toId(
    createHmac('sha256', bindingKey)
      .update(canonicalJson(['selective undo baseline', attemptId]))
      .digest(),
  );
}

const targetGone: Problem = {
  code: 'target_gone',
  message: 'the template, the environment or the instance of the run is gone: there is nothing to undo it in',
  runId: null,
};

const deploymentUnknown: Problem = {
  code: 'deployment_unknown',
  message:
    'the service does not know by which run the instance is deployed now: apply the values that you want in a new run',
  runId: null,
};

export function runInFlight(runId: string): Problem {
  const message = `the run ${runId} may still change the instance: let it end, or cancel it, and check again`;
  return { code: 'run_in_flight', message, runId };
}
