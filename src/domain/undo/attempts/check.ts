import { admissionOf, type RequeueTarget } from '#domain/runs/admission/repeat.ts';
import type { ResolveDeps } from '#domain/runs/admission/run-request.ts';
import { admitScan } from '#domain/runs/admission/scans/scan.ts';
import type { Run } from '#domain/runs/entity.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, throwIfRefused } from '#domain/shared/actions.ts';
import { serviceKeyOf } from '#domain/shared/commands/service-key.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { type Assessment, showCandidate } from '../candidate/assess.ts';
import type { Candidate } from '../candidate/candidate.ts';
import { resolveCandidate } from '../candidate/request.ts';
import { isProblem } from '../deployments/deployments.ts';
import { readInstanceNow } from '../deployments/deployments-store.ts';
import { UndoAttempt } from '../entity.ts';
import { type Problem, stateOf, undoCheckWorkflow } from '../model.ts';
import { publishState, publishUndoEvent } from '../publish-event.ts';
import { judgeByRuns } from './judge-by-runs.ts';
import { findCrowdRefusal, findUndoRefusal, type InstanceNow } from './rules.ts';
import { countChecking } from './store.ts';
import { readUndoFacts } from './targets.ts';

/** The dependencies of the steps of an attempt. */
export interface UndoDeps extends ResolveDeps {
  readonly installation: { readonly bindingKey: Buffer };
}

/** The request of a check. Its workflow has the key as its id. */
export interface UndoCheckRequest {
  readonly key: string;
  readonly target: RequeueTarget;
}

/**
 * Begins an attempt at undoing what a run changed. The caller has locked the run, its instance and its owners. The runs are compared at
 * once. If that finds no problem, a scan then compares the instance with its state. With or without a problem, a workflow whose id is the
 * key completes the check.
 * @throws ActionRefused if the run has changed nothing, or if too many checks of its instance have not ended
 */
export async function beginUndo(
  tx: Transaction,
  deps: UndoDeps,
  { key, target }: UndoCheckRequest,
  by: Principal,
): Promise<UndoAttempt> {
  const { run } = target;
  throwIfRefused(findUndoRefusal(await readUndoFacts(tx.em, run)));
  throwIfRefused(findCrowdRefusal(await countChecking(tx.em, run.instanceId)));
  const instance = await readInstanceNow(tx.em, run.instanceId);
  const judged = await judgeByRuns(tx.em, deps.keyRing, target, instance, by);
  const { verdicts, changes, candidate, problem } = isProblem(judged) ? nothingJudged(judged) : judged;
  const attempt = addAttempt(tx, run, { verdicts, changes, instance }, by);
  publishUndoEvent(tx, attempt, target, 'selective_undo.requested', { by: by.name, run_id: run.id });
  const obstacle = problem ?? (candidate && (await findInvalid(tx, deps, target, candidate, by)));
  if (candidate && !obstacle) {
    attempt.candidate = await showCandidate(tx.em, deps.installation.bindingKey, attempt.id, candidate);
    await beginBaseline(tx, deps, { attempt, key }, by);
  } else {
    attempt.state = obstacle ? 'blocked' : stateOf(verdicts);
    attempt.problem = obstacle;
    attempt.checkedAt = new Date();
  }
  await tx.em.flush();
  tx.notifyEngine(key, { kind: 'start', workflow: undoCheckWorkflow, input: { attempt_id: attempt.id } });
  if (attempt.state !== 'checking') publishState(tx, attempt, target);
  return attempt;
}

function nothingJudged(problem: Problem): Assessment {
  return { verdicts: [], changes: [], candidate: null, problem };
}

type Judged = Pick<Assessment, 'verdicts' | 'changes'> & { readonly instance: InstanceNow | undefined };

function addAttempt(tx: Transaction, run: Run, { verdicts, changes, instance }: Judged, by: Principal): UndoAttempt {
  const attempt = tx.em.create(UndoAttempt, {
    id: newId(),
    runId: run.id,
    instanceId: run.instanceId,
    state: 'checking',
    verdicts,
    changes,
    stateSerial: instance?.stateSerial ?? 0,
    deployedRunId: instance?.deployedRunId ?? null,
    requestedById: by.id,
    requestedByType: by.kind,
    requestedByName: by.name,
    responsibleUserId: by.responsibleUserId,
    createdAt: new Date(),
  });
  tx.em.persist(attempt);
  return attempt;
}

/** Why the candidate could not be admitted as a run. */
async function findInvalid(
  tx: Transaction,
  deps: UndoDeps,
  target: RequeueTarget,
  candidate: Candidate,
  by: Principal,
): Promise<Problem | null> {
  const { run } = target;
  try {
    const wanted = {
      candidate,
      operation: 'apply',
      message: '',
      instance: run.instance,
      options: run.options ?? null,
    } as const;
    await resolveCandidate(tx, deps, admissionOf(target), wanted, by);
    return null;
  } catch (error) {
    if (!(error instanceof Unprocessable)) throw error;
    return { code: 'candidate_invalid', message: error.message, runId: null };
  }
}

/** Starts a scan that compares the instance with its state. If the template cannot be scanned, the verdict on each path is `unknown`. */
async function beginBaseline(
  tx: Transaction,
  deps: UndoDeps,
  { attempt, key: parentWorkflowId }: { readonly attempt: UndoAttempt; readonly key: string },
  by: Principal,
): Promise<void> {
  try {
    const key = serviceKeyOf(deps.installation.bindingKey, ['selective undo baseline', attempt.id]);
    const request = { key, instanceId: attempt.instanceId, requester: by, parentWorkflowId };
    const { runId } = await admitScan(tx, deps, request);
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
