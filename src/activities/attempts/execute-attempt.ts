import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { isDatabaseRefusal, mayPass } from '#database/errors.ts';
import { type AttemptWork, claimAttempt } from '#domain/runs/attempts/claim.ts';
import { abandonAttempt, completeAttempt, concludeAttempt } from '#domain/runs/attempts/complete.ts';
import type { AttemptResult } from '#domain/runs/attempts/writes.ts';
import {
  ApplyObstructed,
  AttemptRefused,
  AttemptWriteRefused,
  NoUsableTool,
  SandboxDemanded,
} from '#domain/runs/errors.ts';
import type { NextStep } from '#domain/runs/model.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import { timed } from '#domain/shared/tasks/spans.ts';
import type { FailureReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { AttemptDeps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { AttemptActivities } from '../runs.contract.ts';
import { writeWithRetry } from '../write-with-retry.ts';
import { toAttemptResult, toInterruptedResult } from './attempt-result.ts';
import { AttemptSink, ignoreSuperseded } from './attempt-sink.ts';
import { toExecutorRequest } from './executor-request.ts';

/** How long a worker that must not execute an attempt waits before it asks for more work, so that others can take the attempt. */
const tooWeakPauseMs = 2_000;

export function createAttemptActivities(deps: AttemptDeps): AttemptActivities {
  return {
    executeAttempt: ({ attemptId }) =>
      withHeartbeat(async (canceled) => {
        let next: NextStep | null = await executeOne(deps, attemptId, canceled);
        // The worker that has planned applies at once. While it stops, and once the run is canceled, the workflow decides.
        while (next?.kind === 'execute' && !deps.attempts.areClosing && !canceled.aborted)
          next = await executeOne(deps, next.attemptId, canceled);
        return next;
      }),
  };
}

/** Executes one attempt. Returns the next step of the run; null if only the workflow can ask for it. */
async function executeOne(deps: AttemptDeps, attemptId: string, canceled: AbortSignal): Promise<NextStep | null> {
  const over = deps.attempts.join(attemptId);
  if (over === null) return null; // the engine delivered the attempt twice, and this worker already executes it
  try {
    return await claimAndExecute(deps, attemptId, AbortSignal.any([over, deps.attempts.stopping, canceled]));
  } finally {
    deps.attempts.leave(attemptId);
  }
}

async function claimAndExecute(deps: AttemptDeps, attemptId: string, signal: AbortSignal): Promise<NextStep | null> {
  let isClaimed = false;
  try {
    const { workerId, isolation, issuer } = deps;
    const claimant = { workerId, isolation, issuer, tools: await deps.findTools() };
    const work = await timed('claim', { attemptId }, () =>
      claimAttempt(deps.orm.em.fork(), deps.keyRing, attemptId, claimant),
    );
    if (!work) return null;
    isClaimed = true;
    return await execute(deps, work, signal);
  } catch (error) {
    // An open attempt of a living worker counts as being executed, so the worker must explicitly release it.
    const refused = error instanceof AttemptRefused ? error : undefined;
    await giveUp(deps, attemptId, isClaimed ? 'lost' : canHandBack(error) ? 'handed_back' : 'failed', refused);
    if (error instanceof ApplyObstructed) return null;
    if (refused) {
      deps.log.warn(
        { err: refused, attempt_id: attemptId },
        'ended an attempt: a connection or output that it needs cannot be provided',
      );
      return null;
    }
    if (!isUnfit(error)) throw error;
    deps.log.warn(
      { attempt_id: attemptId, reason: error.message },
      'released an attempt: this worker has no sandbox or no suitable tool',
    );
    await sleep(tooWeakPauseMs, undefined, { signal }).catch(() => undefined);
    return null;
  }
}

function canHandBack(error: unknown): boolean {
  return isUnfit(error) || error instanceof ApplyObstructed || mayPass(error);
}

/** Whether this worker must not execute an attempt that another worker may. */
function isUnfit(error: unknown): error is SandboxDemanded | NoUsableTool {
  return error instanceof SandboxDemanded || error instanceof NoUsableTool;
}

async function giveUp(
  deps: AttemptDeps,
  attemptId: string,
  outcome: 'lost' | 'handed_back' | 'failed',
  refused?: AttemptRefused,
): Promise<void> {
  await writeWithRetry(deps, attemptId, () =>
    deps.transactions.run((tx) => abandonAttempt(tx, attemptId, deps.workerId, outcome, refused)),
  ).catch(ignoreSuperseded);
}

async function execute(deps: AttemptDeps, work: AttemptWork, signal: AbortSignal): Promise<NextStep | null> {
  const attemptId = work.attempt.id;
  const sink = new AttemptSink(deps, work);
  const stop = AbortSignal.any([signal, sink.stateRefused]);
  const ids = { runId: work.run.id, attemptId };
  const executed = await timed('execute', ids, () => deps.executor.execute(toExecutorRequest(work, deps), sink, stop));
  if (executed.diagnostic)
    deps.log.error({ attempt_id: attemptId, diagnostic: executed.diagnostic }, 'the executor reported a problem');
  const result = isStopping(deps) ? toInterruptedResult(work, executed) : toAttemptResult(work, executed);
  try {
    const settled = await timed('settle_states', ids, () => deps.spool.settle(attemptId));
    const isRefused = settled === 'refused' || sink.stateRefused.aborted;
    const stored = isRefused ? failure('state_refused', result) : result;
    return await timed('store_result', ids, () => storeResult(deps, work, stored, signal));
  } catch (error) {
    if (!(error instanceof AttemptSuperseded)) throw error;
    deps.log.warn({ attempt_id: attemptId }, 'discarded the result of an attempt that is already over');
    return null;
  }
}

/** Stores a result. One that cannot be stored is replaced by a failure with a reason, instead of being retried forever. */
async function storeResult(
  deps: AttemptDeps,
  work: AttemptWork,
  result: AttemptResult,
  signal: AbortSignal,
): Promise<NextStep | null> {
  const attemptId = work.attempt.id;
  try {
    return await writeWithRetry(deps, attemptId, () => conclude(deps, attemptId, result, signal));
  } catch (error) {
    const reason = whyNotStored(work, error);
    if (reason === null) throw error;
    deps.log.error({ err: error, attempt_id: attemptId, reason }, "an attempt's result could not be stored");
    const message = error instanceof AttemptWriteRefused ? error.message : null;
    const refused = { ...failure(reason, null), message };
    return writeWithRetry(deps, attemptId, () => conclude(deps, attemptId, refused, signal));
  }
}

/** Returns the reason if the result itself is at fault, which only plans and outputs of a template can be; else null. */
function whyNotStored({ attempt }: AttemptWork, error: unknown): FailureReason | null {
  if (error instanceof AttemptWriteRefused) return error.reason;
  if (!isDatabaseRefusal(error)) return null;
  return attempt.phase === 'planning' ? 'plan_invalid' : 'outputs_invalid';
}

function failure(reason: FailureReason, result: AttemptResult | null): AttemptResult {
  return { outcome: 'failed', reason, tool: result?.tool ?? null };
}

/** Completes an attempt. Returns the next step of the run, unless the run was canceled or this worker stops. */
async function conclude(
  { transactions, keyRing, attempts }: AttemptDeps,
  attemptId: string,
  result: AttemptResult,
  signal: AbortSignal,
): Promise<NextStep | null> {
  if (signal.aborted || attempts.areClosing) {
    await transactions.run((tx) => completeAttempt(tx, keyRing, attemptId, result));
    return null;
  }
  return transactions.run((tx) => concludeAttempt(tx, keyRing, attemptId, result));
}

/** Whether the attempt ends because this worker stops. */
function isStopping({ attempts }: AttemptDeps): boolean {
  return attempts.stopping.aborted || (Context.current().cancellationDetails?.workerShutdown ?? false);
}
