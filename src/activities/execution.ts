import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { isDatabaseAway, isDatabaseRefusal, isPassingError } from '#database/errors.ts';
import {
  type AttemptWork,
  abandonAttempt,
  claimAttempt,
  completeAttempt,
  concludeAttempt,
} from '#domain/runs/attempts/complete.ts';
import type { AttemptResult } from '#domain/runs/attempts/writes.ts';
import { AttemptSuperseded, AttemptWriteRefused, WorkerTooWeak } from '#domain/runs/errors.ts';
import type { FailureReason } from '#domain/runs/model.ts';
import { watchEngine } from './attempt-signal.ts';
import { AttemptSink, ignoreSuperseded } from './attempt-sink.ts';
import type { ExecutionDeps } from './deps.ts';
import { toRequest } from './execution-request.ts';
import { toAttemptResult, toInterruptedResult } from './execution-result.ts';
import { persist } from './persist.ts';
import type { ExecutionActivities } from './runs.contract.ts';

const heartbeatMs = 3_000;
/** How long a worker that may not take an attempt leaves it to others before it asks for more work. */
const tooWeakPauseMs = 2_000;

export function createExecutionActivities(deps: ExecutionDeps): ExecutionActivities {
  return {
    executeAttempt: ({ attemptId }) =>
      whileAlive(async (wish) => {
        for (let next: string | null = attemptId; next !== null; ) next = await executeOne(deps, next, wish);
      }),
  };
}

/** Answers the attempt that follows at once, if this worker is to take it. */
async function executeOne(deps: ExecutionDeps, attemptId: string, wish: AbortSignal): Promise<string | null> {
  const over = deps.attempts.join(attemptId);
  if (over === null) return null; // this worker has it already: the engine delivered it twice
  try {
    return await claimAndCarryOut(deps, attemptId, AbortSignal.any([over, deps.attempts.stopping, wish]));
  } finally {
    deps.attempts.leave(attemptId);
  }
}

/** Tells the engine that the attempt lives, and the attempt when the engine wants its end. */
async function whileAlive(work: (wish: AbortSignal) => Promise<void>): Promise<void> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    await work(watchEngine(context));
  } finally {
    clearInterval(heartbeat);
  }
}

async function claimAndCarryOut(deps: ExecutionDeps, attemptId: string, signal: AbortSignal): Promise<string | null> {
  let hasBegun = false;
  try {
    const claimant = { workerId: deps.workerId, isolation: deps.isolation };
    const work = await claimAttempt(deps.orm.em.fork(), deps.keyRing, attemptId, claimant);
    if (!work) return null;
    hasBegun = true;
    return await carryOut(deps, work, signal);
  } catch (error) {
    // While this worker lives, its open attempts count as being worked on: what it gives up, it must say.
    await giveUp(deps, attemptId, hasBegun ? 'lost' : canOthersTake(error) ? 'handed_back' : 'failed');
    if (!(error instanceof WorkerTooWeak)) throw error;
    deps.log.warn({ attempt_id: attemptId }, 'the attempt demands a sandbox and this worker has none');
    await sleep(tooWeakPauseMs, undefined, { signal }).catch(() => undefined);
    return null;
  }
}

function canOthersTake(error: unknown): boolean {
  return error instanceof WorkerTooWeak || isDatabaseAway(error) || isPassingError(error);
}

async function giveUp(
  deps: ExecutionDeps,
  attemptId: string,
  outcome: 'lost' | 'handed_back' | 'failed',
): Promise<void> {
  await persist(deps, attemptId, () =>
    deps.transactions.run((tx) => abandonAttempt(tx, attemptId, deps.workerId, outcome)),
  ).catch(ignoreSuperseded);
}

async function carryOut(deps: ExecutionDeps, work: AttemptWork, signal: AbortSignal): Promise<string | null> {
  const attemptId = work.attempt.id;
  const sink = new AttemptSink(deps, work);
  const stop = AbortSignal.any([signal, sink.stateRefused]);
  const executed = await deps.executor.execute(toRequest(work, deps.limits), sink, stop);
  if (executed.diagnostic)
    deps.log.error({ attempt_id: attemptId, diagnostic: executed.diagnostic }, 'the executor said');
  const result = isStopping(deps) ? toInterruptedResult(work, executed) : toAttemptResult(work, executed);
  try {
    const isRefused = (await deps.spool.settle(attemptId)) === 'refused' || sink.stateRefused.aborted;
    const kept = isRefused ? failure('state_refused', result) : result;
    return await keepResult(deps, work, kept, signal);
  } catch (error) {
    if (!(error instanceof AttemptSuperseded)) throw error;
    deps.log.warn({ attempt_id: attemptId }, 'the result of an attempt that is over was refused');
    return null;
  }
}

/** Keeps a result; one that cannot be stored ends the attempt as failed, with a reason, instead of being sent for ever. */
async function keepResult(
  deps: ExecutionDeps,
  work: AttemptWork,
  result: AttemptResult,
  signal: AbortSignal,
): Promise<string | null> {
  const attemptId = work.attempt.id;
  try {
    return await persist(deps, attemptId, () => conclude(deps, attemptId, result, signal));
  } catch (error) {
    const reason = whyNotKept(work, error);
    if (reason === null) throw error;
    deps.log.error({ err: error, attempt_id: attemptId, reason }, 'the result of an attempt could not be stored');
    return persist(deps, attemptId, () => conclude(deps, attemptId, failure(reason, null), signal));
  }
}

/** Null: not because of what the result is. Only plans and outputs come from the template, so only they can be at fault. */
function whyNotKept({ attempt }: AttemptWork, error: unknown): FailureReason | null {
  if (error instanceof AttemptWriteRefused) return error.reason;
  if (!isDatabaseRefusal(error)) return null;
  return attempt.phase === 'planning' ? 'plan_invalid' : 'outputs_invalid';
}

function failure(reason: FailureReason, result: AttemptResult | null): AttemptResult {
  return { outcome: 'failed', reason, tool: result?.tool ?? null };
}

/** Keeps what an attempt came to. Answers the attempt that follows, unless somebody wants the run or this worker to stop. */
async function conclude(
  { transactions, keyRing, attempts }: ExecutionDeps,
  attemptId: string,
  result: AttemptResult,
  signal: AbortSignal,
): Promise<string | null> {
  if (signal.aborted || attempts.areClosing) {
    await transactions.run((tx) => completeAttempt(tx, keyRing, attemptId, result));
    return null;
  }
  const step = await transactions.run((tx) => concludeAttempt(tx, keyRing, attemptId, result));
  return step.kind === 'execute' ? step.attemptId : null;
}

/** Whether it is this worker that ends, rather than the attempt that is to. */
function isStopping({ attempts }: ExecutionDeps): boolean {
  return attempts.stopping.aborted || (Context.current().cancellationDetails?.workerShutdown ?? false);
}
