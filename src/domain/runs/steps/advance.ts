import { lockAndReadInstance } from '#domain/instances/state/state.ts';
import { recordWriter } from '#domain/instances/writer.ts';
import { reportFullQuota } from '#domain/quotas/use/slots.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { recordSystemAction } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { findOwningTeam } from '#domain/shared/ownership-graph/owning-team.ts';
import { toPolicyFields } from '#domain/shared/vocabulary/approval.ts';
import type { AttemptPhase } from '#domain/shared/vocabulary/runs.ts';
import { isHold, type WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import type { Lapse } from '../approval/rules.ts';
import { activityTimeoutSeconds } from '../attempts/limits.ts';
import type { Run, RunAttempt } from '../entity.ts';
import { publishRunEvent, publishRunEventOnce } from '../events/publish-event.ts';
import { type NextStep, priorityOf } from '../model.ts';
import { readStepContext, type StepContext, type WorkflowFacts } from './facts.ts';
import { cancelScans } from './give-way.ts';
import { decideNextStep, noWorkerRetrySeconds } from './next-step.ts';
import { approvalWaitSeconds } from './obstacles.ts';
import { findPlacement, type Placement, publishUncontainedWorkers } from './placement.ts';
import { noteSlot, releaseQuotaSlot } from './quota-slot.ts';
import { limitToPoolShare, passShareOn, waitsForShare } from './shares.ts';
import { acquireSlot } from './slot.ts';
import type { Closing, Step, StepFacts } from './step.ts';
import { changeStatus, closeAttempt, finishRun, lockRunInOrder, openAttempt } from './transitions.ts';

/** An attempt that no worker has claimed for this long gets a new queue, because the workers of its queue may have stopped. */
const redispatchAfterSeconds = 600;

export interface StepRequest extends WorkflowFacts {
  readonly runId: string;
}

/**
 * Advances a run as far as possible without executing anything, and returns what its workflow does next. `decideNextStep`
 * decides, while the run is locked, so the workflow is a simple loop and a repeated call is harmless.
 */
export async function takeNextStep(tx: Transaction, request: StepRequest): Promise<NextStep> {
  const run = await lockRunInOrder(tx.em, request.runId);
  return run ? advanceRun(tx, run, request) : { kind: 'end' };
}

/** `takeNextStep` for a run that the caller has locked. */
export async function advanceRun(tx: Transaction, run: Run, workflow: WorkflowFacts): Promise<NextStep> {
  if (run.isFinished()) return { kind: 'end' };
  const context = await readStepContext(tx.em, run, workflow);
  for (const lapse of context.lapses) await publishLapse(tx, run, lapse);
  const before = noteSlot(run);
  const waitedForShare = waitsForShare(run);
  const decided = decideNextStep(context.facts);
  const step = context.isPoolShared ? await limitToPoolShare(tx.em, run, decided) : decided;
  const next = await carryOut(tx, run, context, step);
  await releaseQuotaSlot(tx, run, before);
  if (next.kind === 'wait') await passShareOn(tx, run, waitedForShare, context.attempt);
  return next;
}

async function publishLapse(tx: Transaction, run: Run, { by, reviewerId, reason }: Lapse): Promise<void> {
  const data = { by, reviewer_id: reviewerId, reason };
  if (await publishRunEventOnce(tx, run, 'run.approval_lapsed', data, data)) run.revision += 1;
}

async function carryOut(tx: Transaction, run: Run, context: StepContext, step: Step): Promise<NextStep> {
  switch (step.kind) {
    case 'nothing':
      return { kind: 'end' };
    case 'finish':
      endAttempt(tx, run, context, step.closes);
      await finishRun(tx, run, { status: step.status, reason: step.reason, isPoolShared: context.isPoolShared });
      if (step.reason === 'approval_timeout') await recordApprovalTimeout(tx, run);
      return { kind: 'end' };
    case 'wait':
      endAttempt(tx, run, context, step.closes);
      return wait(tx, run, context, step);
    case 'begin':
      return begin(tx, run, context);
    case 'ask_approval':
      endAttempt(tx, run, context, step.closes);
      return waitForApproval(tx, run, context.facts, step.seconds);
    case 'apply':
      return apply(tx, run, context);
    case 'switch_tool':
      return switchTo(tx, run, context);
    case 'execute':
      endAttempt(tx, run, context, step.closes);
      return startAttempt(tx, run, step.phase);
    case 'resume':
      return placeAttempt(tx, run, requireAttempt(context));
  }
}

function endAttempt(tx: Transaction, run: Run, context: StepContext, closing: Closing | undefined): void {
  if (!closing) return;
  const attempt = requireAttempt(context);
  closeAttempt(attempt, closing.outcome);
  if (closing.isReported) publishRunEvent(tx, run, 'run.attempt_lost', { phase: attempt.phase });
}

/** No request caused this end, so the audit names the service as the actor. */
async function recordApprovalTimeout(tx: Transaction, { id, status, revision }: Run): Promise<void> {
  const owners = (await findOwningTeam(tx.em, 'run', id)) ?? installationOwnership;
  recordSystemAction(tx, 'run.approval_timed_out', { id, after: { status }, revision }, owners);
}

async function wait(
  tx: Transaction,
  run: Run,
  { placement, facts: { fullQuota } }: StepContext,
  { seconds, suspects, waitingOn }: Extract<Step, { kind: 'wait' }>,
): Promise<NextStep> {
  if (waitingOn?.code === 'no_worker' && placement?.hasUncontainedWorkers) await publishUncontainedWorkers(tx, run);
  if (waitingOn) waitFor(tx, run, waitingOn.code === 'no_worker' ? { ...waitingOn, ...toolsOf(placement) } : waitingOn);
  if (fullQuota && waitingOn?.code === 'quota') await reportFullQuota(tx, fullQuota.blocker);
  await tx.em.flush();
  return { kind: 'wait', seconds, ...(suspects && { suspects }) };
}

/** The tools of which a worker must have one; nothing if any tool is usable. */
function toolsOf(placement: Placement | null): Pick<WaitingOn, 'tools'> {
  return placement && placement.wantedTools.length > 0 ? { tools: placement.wantedTools } : {};
}

/** Records why the run waits, and publishes an event when a hold begins, or when another hold replaces it. */
function waitFor(
  tx: Transaction,
  run: Run,
  waitingOn: NonNullable<Extract<Step, { kind: 'wait' }>['waitingOn']>,
): void {
  const { code, blocker = null } = waitingOn;
  if (!run.waitFor(code, waitingOn) || !isHold(code)) return;
  if (blocker === null || typeof blocker === 'string' || 'scope' in blocker) return;
  publishRunEvent(tx, run, 'run.held', { code, reason: blocker.reason, until: blocker.until });
}

async function begin(tx: Transaction, run: Run, { stateSerial, placement, hasScans }: StepContext): Promise<NextStep> {
  if (run.isWriter()) await acquireSlot(tx.em, run);
  if (run.isWriter() && hasScans) await cancelScans(tx, run);
  run.startedAt = new Date();
  run.stateSerialBefore = stateSerial;
  changeStatus(tx, run, 'running', 'planning');
  publishRunEvent(tx, run, 'run.planning', { operation: run.operation });
  return startAttempt(tx, run, 'planning', placement, true);
}

/** The run keeps the policy under which it applies. A scan may have begun while the run waited for approval. */
async function apply(tx: Transaction, run: Run, { facts, hasScans, placement }: StepContext): Promise<NextStep> {
  if (hasScans) await cancelScans(tx, run);
  Object.assign(run, toPolicyFields(facts.policy));
  changeStatus(tx, run, 'running', 'applying');
  publishRunEvent(tx, run, 'run.applying', { digest: run.planDigest ?? null });
  return startAttempt(tx, run, 'applying', placement);
}

async function switchTo(tx: Transaction, run: Run, { isPoolShared }: StepContext): Promise<NextStep> {
  if (run.status === 'pending_approval') changeStatus(tx, run, 'running');
  await switchTool(tx, run);
  await finishRun(tx, run, { status: 'succeeded', reason: null, isPoolShared });
  return { kind: 'end' };
}

async function waitForApproval(tx: Transaction, run: Run, facts: StepFacts, seconds: number): Promise<NextStep> {
  if (run.status !== 'pending_approval') changeStatus(tx, run, 'pending_approval', 'approval');
  run.approvalExpiresAt = new Date(Date.now() + seconds * 1000);
  run.waitFor('approval');
  await tx.em.flush();
  publishRunEvent(tx, run, 'run.approval_required', {
    required: facts.policy.required,
    digest: run.planDigest ?? null,
  });
  return { kind: 'wait', seconds: approvalWaitSeconds(facts, seconds) };
}

/**
 * Opens an attempt. The run waits until a worker of its pool claims the attempt.
 * @param placement where it can be executed, if that is known
 * @param isFirst whether the run has had no attempt before
 */
async function startAttempt(
  tx: Transaction,
  run: Run,
  phase: AttemptPhase,
  placement: Placement | null = null,
  isFirst = false,
): Promise<NextStep> {
  run.waitFor('no_worker');
  return placeAttempt(tx, run, await openAttempt(tx.em, run, phase, isFirst), placement);
}

/** Chooses the queue of an open attempt. While no live worker may claim the attempt, the run waits. */
async function placeAttempt(
  tx: Transaction,
  run: Run,
  attempt: RunAttempt,
  known: Placement | null = null,
): Promise<NextStep> {
  const placement = known ?? (await findPlacement(tx.em, run));
  const { taskQueue, hasUncontainedWorkers } = placement;
  run.waitFor('no_worker', taskQueue === null ? toolsOf(placement) : {});
  await tx.em.flush();
  if (taskQueue === null) {
    if (hasUncontainedWorkers) await publishUncontainedWorkers(tx, run);
    return { kind: 'wait', seconds: noWorkerRetrySeconds };
  }
  return {
    kind: 'execute',
    attemptId: attempt.id,
    taskQueue,
    timeoutSeconds: activityTimeoutSeconds(run, attempt.phase),
    startWithinSeconds: redispatchAfterSeconds,
    priority: priorityOf(run.operation, attempt.phase),
  };
}

/** @throws Error if the step needs an attempt and the run has none: a defect */
function requireAttempt({ attempt }: StepContext): RunAttempt {
  if (!attempt) throw new Error('the step of the run needs an attempt, and the run has none');
  return attempt;
}

/**
 * Switches an instance to the tool with which a run has planned no change. The next runs use its state with that tool. The caller has
 * locked the run.
 */
async function switchTool(tx: Transaction, { instanceId, tool, toolSwitch }: Run): Promise<void> {
  if (!tool || !toolSwitch) throw new Error('a run that switches no tool, or has none, cannot switch to it');
  const instance = await lockAndReadInstance(tx.em, instanceId);
  recordWriter(instance, tool);
  instance.wantedTool = toolSwitch.version === undefined ? null : toolSwitch;
  instance.revision += 1;
  await tx.em.flush();
}
