import { createHash } from 'node:crypto';
import { json } from '#database/tables.ts';
import { recordOutputs } from '#domain/instances/state/instance-outputs.ts';
import { maskOutputs } from '#domain/instances/state/masked-outputs.ts';
import { lockAndReadInstance } from '#domain/instances/state/state.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { storeDebugLog } from '../debug-logs/debug-logs.ts';
import { type StatusDetail, toStatusDetail } from '../diagnostics/status-detail.ts';
import type { Run } from '../entity.ts';
import { type AttemptRefused, ReadsRefused } from '../errors.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import type { NextStep } from '../model.ts';
import { writePlan } from '../plans/changes-store.ts';
import type { PlanSummary } from '../plans/model.ts';
import { advanceRun } from '../steps/advance.ts';
import { closeAttempt, lockAttemptInOrder } from '../steps/transitions.ts';
import { checkResult } from './checks.ts';
import { recordDeployment, recordScan, recordUnchanged } from './deployment-record.ts';
import { keepPlannedModules } from './kept-modules.ts';
import { listUnrepresentable, representOutputs } from './represented-outputs.ts';
import { artifactContext } from './seals.ts';
import type { AttemptResult } from './writes.ts';

/**
 * Stores the result of an attempt and returns its run, locked; a repeated call is harmless. The status of the run is not
 * changed here: the next step of the run does that.
 * @throws AttemptSuperseded if another attempt has begun, or the run has ended
 * @throws AttemptWriteRefused if the result does not fit the phase of the attempt, or cannot be stored
 */
export async function completeAttempt(
  tx: Transaction,
  keyRing: KeyRing,
  attemptId: string,
  result: AttemptResult,
): Promise<Run> {
  const { run, attempt, stateSerial } = await lockLiveAttempt(tx, attemptId);
  if (attempt.outcome !== null && attempt.outcome !== undefined) return run;
  const outputs = result.outputs && representOutputs(result.outputs);
  checkResult(run, attempt, { ...result, ...(outputs && { outputs }) });
  closeAttempt(attempt, result.outcome);
  if (run.status === 'running' || result.reason === 'state_refused') {
    run.statusReason = result.reason;
    run.statusDetail = detailOf(run, result);
  }
  run.tool = result.tool ?? run.tool ?? null;
  run.revision += 1;
  if (result.debugLog) await storeDebugLog(tx.em, keyRing, { run, attempt, content: result.debugLog });
  if (result.plan) await storePlan(tx, keyRing, run, result.plan, stateSerial);
  if (result.plan && result.modules) await keepPlannedModules(tx.em, run, attempt, result.modules);
  if (outputs) await storeOutputs(tx, keyRing, run, { outputs, isPlanned: attempt.phase === 'planning' });
  await recordOutcome(tx, run, result);
  await tx.em.flush();
  if (result.plan) publishPlanned(tx, run, result.plan.summary);
  if (outputs) publishUnrepresentable(tx, run);
  return run;
}

/**
 * Completes an attempt and takes the next step of the run, so that the worker that made a plan can apply it without waiting for the
 * workflow. A workflow that requests the next step later gets the same answer.
 * @param queue the queue of the worker, if it executes the next attempt itself
 */
export async function concludeAttempt(
  tx: Transaction,
  keyRing: KeyRing,
  attemptId: string,
  result: AttemptResult,
  queue?: string,
): Promise<NextStep> {
  const run = await completeAttempt(tx, keyRing, attemptId, result);
  return advanceRun(tx, run, { executed: attemptId, canceled: false, ...(queue !== undefined && { queue }) });
}

/**
 * Ends an attempt that its worker gives up without a result. `lost`: as if the worker itself were lost. Before the worker has
 * begun: `handed_back` if another worker can execute it, `failed` if none can. Does nothing if the attempt is over or belongs
 * to another worker. `refused` says why it failed.
 */
export async function abandonAttempt(
  tx: Transaction,
  attemptId: string,
  workerId: string,
  outcome: 'handed_back' | 'failed' | 'lost',
  refused?: AttemptRefused,
): Promise<void> {
  const { run, attempt } = await lockLiveAttempt(tx, attemptId);
  if ((attempt.workerId && attempt.workerId !== workerId) || (attempt.outcome ?? null) !== null) return;
  closeAttempt(attempt, outcome);
  if (outcome === 'failed' && run.status === 'running') {
    run.statusReason = refused?.reason ?? 'executor_failed';
    run.statusDetail = toStatusDetail({ reason: run.statusReason, message: refused?.message }, run.pool);
  }
  await tx.em.flush();
  if (refused) {
    const { reason, message } = refused;
    const type = refused instanceof ReadsRefused ? 'run.read_refused' : 'run.connection_refused';
    publishRunEvent(tx, run, type, { phase: attempt.phase, reason, message });
  }
  if (outcome === 'lost') publishRunEvent(tx, run, 'run.attempt_lost', { phase: attempt.phase });
}

function detailOf(run: Run, result: AttemptResult): StatusDetail | null {
  const hasFailed = result.outcome === 'failed' || result.outcome === 'timed_out';
  return hasFailed ? toStatusDetail(result, run.pool) : null;
}

async function lockLiveAttempt(
  tx: Transaction,
  attemptId: string,
): Promise<Awaited<ReturnType<typeof lockAttemptInOrder>>> {
  const locked = await lockAttemptInOrder(tx.em, attemptId);
  if (locked.run.attemptId !== attemptId) throw new AttemptSuperseded(attemptId);
  return locked;
}

async function storePlan(
  tx: Transaction,
  keyRing: KeyRing,
  run: Run,
  plan: NonNullable<AttemptResult['plan']>,
  presentSerial: number,
): Promise<void> {
  const isScan = run.operation === 'scan';
  // A scan describes the state with which it began, even if somebody has recovered another state in the meantime.
  const stateSerial = isScan ? (run.stateSerialBefore ?? presentSerial) : presentSerial;
  run.planDigest = approvalDigest(run, plan.executorDigest, stateSerial);
  run.planSummary = plan.summary;
  await writePlan(tx.em, run.id, {
    digest: run.planDigest,
    changes: json(plan.changes),
    sections: json(plan.sections),
    executorDigest: plan.executorDigest,
    artifact: isScan ? null : keyRing.seal(artifactContext(run.id), plan.artifact),
    stateSerial,
    createdAt: new Date(),
  });
}

function publishPlanned(tx: Transaction, run: Run, summary: PlanSummary): void {
  const { planDigest: digest = null, operation } = run;
  publishRunEvent(tx, run, 'run.planned', { digest, operation, ...summary });
}

/** At most this many are named; the outputs themselves name all. */
const maxNamed = 20;

function publishUnrepresentable(tx: Transaction, run: Run): void {
  const missing = listUnrepresentable(run.outputs);
  if (missing.length === 0) return;
  publishRunEvent(tx, run, 'run.outputs_unrepresentable', {
    values: missing.slice(0, maxNamed),
    count: missing.length,
  });
}

/** The digest that a review approves. It binds the plan, its inputs, its options and the state from which it was made. */
function approvalDigest(run: Run, planDigest: string, stateSerial: number): string {
  const inputs = createHash('sha256').update(run.sealedInputs).digest('hex');
  const options = run.options ? [canonicalJson(run.options)] : [];
  const work = [run.id, run.operation, run.templateVersionId, inputs, stateSerial, planDigest];
  const bound = canonicalJson([...work, ...options]);
  return `sha256:${createHash('sha256').update(bound).digest('hex')}`;
}

async function recordOutcome({ em }: Transaction, run: Run, { outcome, resourceCount }: AttemptResult): Promise<void> {
  if (outcome === 'applied') return recordDeployment(em, run, resourceCount);
  // A run that is being canceled ends as canceled, whatever its plan was.
  if (run.status !== 'running') return;
  if (outcome === 'unchanged') return recordUnchanged(em, run);
  if (outcome === 'planned' && run.operation === 'scan') return recordScan(em, run);
}

async function storeOutputs(
  tx: Transaction,
  keyRing: KeyRing,
  run: Run,
  { outputs, isPlanned }: { readonly outputs: MaskedOutputs; readonly isPlanned: boolean },
): Promise<void> {
  const instance = await lockAndReadInstance(tx.em, run.instanceId);
  run.outputs = maskOutputs(outputs);
  // A plan read the state with which it began. If another state was recovered meanwhile, it says nothing about that one.
  if (isPlanned && instance.stateSerial !== (run.stateSerialBefore ?? 0)) return;
  recordOutputs(keyRing, instance, outputs);
}
