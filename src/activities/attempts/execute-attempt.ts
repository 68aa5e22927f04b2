import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { isDatabaseRefusal, mayPass } from '#database/errors.ts';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import { completeAttempt } from '#domain/runs/attempts/complete.ts';
import { type Continuation, continueRun, nothingKnown } from '#domain/runs/attempts/continue.ts';
import { storeAttemptState } from '#domain/runs/attempts/state.ts';
import type { AttemptResult, AttemptState } from '#domain/runs/attempts/writes.ts';
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
import { AttemptSink } from './attempt-sink.ts';
import { toExecutorRequest } from './executor-request.ts';
import { begin, claim, describeClaimant, giveUp } from './take-attempt.ts';

/** How long a worker that must not execute an attempt waits before it asks for more work, so that others can take the attempt. */
const tooWeakPauseMs = 2_000;

export function createAttemptActivities(deps: AttemptDeps): AttemptActivities {
  return {
    beginRun: ({ runId }) => withHeartbeat(async (canceled) => follow(deps, await begin(deps, runId), canceled)),
    executeAttempt: ({ attemptId }) =>
      withHeartbeat(async (canceled) =>
        follow(deps, await executeOne(deps, { attemptId, work: null }, canceled), canceled),
      ),
  };
}

/** Executes the attempts that follow, one after the other, and returns the next step after them. */
async function follow(deps: AttemptDeps, begun: Continuation, canceled: AbortSignal): Promise<NextStep | null> {
  let done = begun;
  for (;;) {
    const next = nextAttempt(deps, done, canceled);
    if (next === null) return done.step;
    done = await executeOne(deps, next, canceled);
  }
}

/** An attempt to execute, and what it needs, if this worker has claimed it. */
interface Attempt {
  readonly attemptId: string;
  readonly work: AttemptWork | null;
}

/**
 * The attempt that this worker executes next: in any case one that it has claimed. The worker that has planned applies at once; while it stops,
 * and once the run is canceled, the workflow decides.
 */
function nextAttempt({ attempts }: AttemptDeps, { step, work }: Continuation, canceled: AbortSignal): Attempt | null {
  if (work) return { attemptId: work.attempt.id, work };
  const mayContinue = step?.kind === 'execute' && !attempts.areClosing && !canceled.aborted;
  return mayContinue ? { attemptId: step.attemptId, work: null } : null;
}

/** Executes one attempt, which it first claims if that was not done. */
async function executeOne(deps: AttemptDeps, attempt: Attempt, canceled: AbortSignal): Promise<Continuation> {
  const { attemptId } = attempt;
  const over = deps.attempts.join(attemptId);
  if (over === null) return nothingKnown; // the engine delivered the attempt twice, and this worker already executes it
  try {
    return await claimAndExecute(deps, attempt, AbortSignal.any([over, deps.attempts.stopping, canceled]));
  } finally {
    deps.attempts.leave(attemptId);
  }
}

async function claimAndExecute(
  deps: AttemptDeps,
  { attemptId, work: claimed }: Attempt,
  signal: AbortSignal,
): Promise<Continuation> {
  let isClaimed = claimed !== null;
  try {
    const work = claimed ?? (await claim(deps, attemptId));
    if (!work) return nothingKnown;
    isClaimed = true;
    return await execute(deps, work, signal);
  } catch (error) {
    // An open attempt of a living worker counts as being executed, so the worker must explicitly release it.
    const refused = error instanceof AttemptRefused ? error : undefined;
    await giveUp(deps, attemptId, isClaimed ? 'lost' : canHandBack(error) ? 'handed_back' : 'failed', refused);
    if (error instanceof ApplyObstructed) return nothingKnown;
    if (refused) {
      deps.log.warn(
        { err: refused, attempt_id: attemptId },
        'ended an attempt: a connection or output that it needs cannot be provided',
      );
      return nothingKnown;
    }
    if (!isUnfit(error)) throw error;
    deps.log.warn(
      { attempt_id: attemptId, reason: error.message },
      'released an attempt: this worker has no sandbox or no suitable tool',
    );
    await sleep(tooWeakPauseMs, undefined, { signal }).catch(() => undefined);
    return nothingKnown;
  }
}

function canHandBack(error: unknown): boolean {
  return isUnfit(error) || error instanceof ApplyObstructed || mayPass(error);
}

/** Whether this worker must not execute an attempt that another worker may. */
function isUnfit(error: unknown): error is SandboxDemanded | NoUsableTool {
  return error instanceof SandboxDemanded || error instanceof NoUsableTool;
}

async function execute(deps: AttemptDeps, work: AttemptWork, signal: AbortSignal): Promise<Continuation> {
  const attemptId = work.attempt.id;
  const sink = new AttemptSink(deps, work);
  const stop = AbortSignal.any([signal, sink.stateRefused]);
  const ids = { runId: work.run.id, attemptId };
  const executed = await timed('execute', ids, () => deps.executor.execute(toExecutorRequest(work, deps), sink, stop));
  if (executed.diagnostic)
    deps.log.error({ attempt_id: attemptId, diagnostic: executed.diagnostic }, 'the executor reported a problem');
  const result = isStopping(deps) ? toInterruptedResult(work, executed) : toAttemptResult(work, executed);
  try {
    return await timed('store_result', ids, () =>
      deps.spool.settleWith(attemptId, (verdict, last) => {
        const isRefused = verdict === 'refused' || sink.stateRefused.aborted;
        const stored = isRefused ? failure('state_refused', result) : result;
        return last ? conclude(deps, work, stored, signal, last) : storeResult(deps, work, stored, signal);
      }),
    );
  } catch (error) {
    if (!(error instanceof AttemptSuperseded)) throw error;
    deps.log.warn({ attempt_id: attemptId }, 'discarded the result of an attempt that is already over');
    return nothingKnown;
  }
}

/** Stores a result. One that cannot be stored is replaced by a failure with a reason, instead of being retried forever. */
async function storeResult(
  deps: AttemptDeps,
  work: AttemptWork,
  result: AttemptResult,
  signal: AbortSignal,
): Promise<Continuation> {
  const attemptId = work.attempt.id;
  try {
    return await writeWithRetry(deps, attemptId, () => conclude(deps, work, result, signal));
  } catch (error) {
    const reason = whyNotStored(work, error);
    if (reason === null) throw error;
    deps.log.error({ err: error, attempt_id: attemptId, reason }, "an attempt's result could not be stored");
    const message = error instanceof AttemptWriteRefused ? error.message : null;
    const refused = { ...failure(reason, null), message };
    return writeWithRetry(deps, attemptId, () => conclude(deps, work, refused, signal));
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

/**
 * Completes an attempt, and says what follows, unless the run was canceled or this worker stops.
 * @param state the last state of the attempt, if it is stored with the result
 */
async function conclude(
  deps: AttemptDeps,
  work: AttemptWork,
  result: AttemptResult,
  signal: AbortSignal,
  state: AttemptState | null = null,
): Promise<Continuation> {
  const { transactions, keyRing, attempts } = deps;
  const isOver = signal.aborted || attempts.areClosing;
  const claimant = await describeClaimant(deps);
  return transactions.run(async (tx) => {
    if (state) await storeAttemptState(tx, keyRing, state);
    if (!isOver) return continueRun(tx, keyRing, { work, result, claimant });
    await completeAttempt(tx, keyRing, work.attempt.id, result);
    return nothingKnown;
  });
}

/** Whether the attempt ends because this worker stops. */
function isStopping({ attempts }: AttemptDeps): boolean {
  return attempts.stopping.aborted || (Context.current().cancellationDetails?.workerShutdown ?? false);
}
