import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { AttemptSuperseded } from '#domain/runs/errors.ts';
import {
  type AttemptResult,
  type AttemptWork,
  abandonAttempt,
  claimAttempt,
  completeAttempt,
  concludeAttempt,
} from '#domain/runs/execution.ts';
import { appendLog } from '#domain/runs/logs.ts';
import type { Em } from '#domain/shared/database.ts';
import { isConnectionError } from '#domain/shared/sql.ts';
import { ExecutorSession } from '#executors/client.ts';
import type { ExecutionSink } from '#executors/protocol.ts';
import { watchEngine } from './attempt-signal.ts';
import type { ExecutionDeps } from './deps.ts';
import { toRequest } from './execution-request.ts';
import { toAttemptResult, toInterruptedResult } from './execution-result.ts';
import type { ExecutionActivities } from './runs.contract.ts';

const heartbeatMs = 3_000;
const databaseRetryMs = 1_000;

export function createExecutionActivities(deps: ExecutionDeps): ExecutionActivities {
  return {
    executeAttempt: ({ attemptId }) =>
      whileAlive(async (wish) => {
        const executor = new ExecutorSession();
        try {
          for (let next: string | null = attemptId; next !== null; )
            next = await executeOne(deps, executor, next, wish);
        } finally {
          executor.close();
        }
      }),
  };
}

/** Answers the attempt that follows at once, if this worker is to take it. */
async function executeOne(
  deps: ExecutionDeps,
  executor: ExecutorSession,
  attemptId: string,
  wish: AbortSignal,
): Promise<string | null> {
  const over = deps.attempts.join(attemptId);
  if (over === null) return null; // this worker has it already: the engine delivered it twice
  try {
    return await claimAndCarryOut(deps, executor, attemptId, AbortSignal.any([over, deps.attempts.stopping, wish]));
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

async function claimAndCarryOut(
  deps: ExecutionDeps,
  executor: ExecutorSession,
  attemptId: string,
  signal: AbortSignal,
): Promise<string | null> {
  let hasBegun = false;
  try {
    const work = await claimAttempt(deps.orm.em.fork(), deps.keyRing, attemptId, deps.workerId);
    if (!work) return null;
    hasBegun = true;
    return await carryOut(deps, executor, work, signal);
  } catch (error) {
    // While this worker lives, its open attempts count as being worked on: what it gives up, it must say.
    const outcome = hasBegun ? 'lost' : isAway(error) ? 'handed_back' : 'failed';
    await persist(deps, attemptId, () =>
      deps.transactions.run((tx) => abandonAttempt(tx, attemptId, deps.workerId, outcome)),
    ).catch(ignoreSuperseded);
    throw error;
  }
}

function ignoreSuperseded(error: unknown): void {
  if (!(error instanceof AttemptSuperseded)) throw error;
}

async function carryOut(
  deps: ExecutionDeps,
  executor: ExecutorSession,
  work: AttemptWork,
  signal: AbortSignal,
): Promise<string | null> {
  const attemptId = work.attempt.id;
  const executed = await executor.execute(toRequest(work, deps.settings), openSink(deps, work), signal);
  if (executed.diagnostic)
    deps.log.error({ attempt_id: attemptId, diagnostic: executed.diagnostic }, 'the executor said');
  const result = isStopping(deps) ? toInterruptedResult(work, executed) : toAttemptResult(work, executed);
  try {
    await deps.spool.settle(attemptId);
    return await persist(deps, attemptId, () => conclude(deps, attemptId, result, signal));
  } catch (error) {
    if (!(error instanceof AttemptSuperseded)) throw error;
    deps.log.warn({ attempt_id: attemptId }, 'the result of an attempt that is over was refused');
    return null;
  }
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

function openSink(deps: ExecutionDeps, work: AttemptWork): ExecutionSink {
  const attemptId = work.attempt.id;
  return {
    log: (chunk) => persist(deps, attemptId, (em) => appendLog(em, attemptId, chunk)),
    state: (content, { write, resourceCount }) => deps.spool.add({ attemptId, write, content, resourceCount }),
  };
}

/** Writes as soon as the database is there: an attempt outlasts its absence. Being superseded ends the attempt. */
async function persist<T>(deps: ExecutionDeps, attemptId: string, write: (em: Em) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write(deps.orm.em.fork());
    } catch (error) {
      if (!isAway(error)) throw error;
      deps.log.warn({ err: error, attempt_id: attemptId }, 'the database is away; an attempt waits for it');
      await sleep(databaseRetryMs);
    }
  }
}

/** Whether the database is away, be it only that nobody knows whether it has committed. */
function isAway(error: unknown): boolean {
  return isConnectionError(error) || (error instanceof Error && isConnectionError(error.cause));
}
