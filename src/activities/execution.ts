import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { AttemptSuperseded } from '#domain/runs/errors.ts';
import { type AttemptWork, claimAttempt, completeAttempt } from '#domain/runs/execution.ts';
import { appendLog } from '#domain/runs/logs.ts';
import type { Em } from '#domain/shared/database.ts';
import { isConnectionError } from '#domain/shared/sql.ts';
import { execute } from '#executors/client.ts';
import type { ExecutionSink } from '#executors/protocol.ts';
import type { ExecutionDeps } from './deps.ts';
import { toRequest } from './execution-request.ts';
import { toAttemptResult, toInterruptedResult } from './execution-result.ts';
import type { ExecutionActivities } from './runs.contract.ts';

const heartbeatMs = 3_000;
const databaseRetryMs = 1_000;

export function createExecutionActivities(deps: ExecutionDeps): ExecutionActivities {
  return {
    executeAttempt: async ({ attemptId }) => {
      const work = await claimAttempt(deps.orm.em.fork(), deps.keyRing, attemptId, deps.workerId);
      if (work) await whileAlive(deps, attemptId, (signal) => carryOut(deps, work, signal));
    },
  };
}

/** Tells the engine that the attempt lives, and the attempt when it is over. */
async function whileAlive(
  deps: ExecutionDeps,
  attemptId: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const context = Context.current();
  const over = deps.attempts.join(attemptId);
  const heartbeat = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    await work(AbortSignal.any([over, context.cancellationSignal]));
  } finally {
    clearInterval(heartbeat);
    deps.attempts.leave(attemptId);
  }
}

async function carryOut(deps: ExecutionDeps, work: AttemptWork, signal: AbortSignal): Promise<void> {
  const attemptId = work.attempt.id;
  const executed = await execute(toRequest(work, deps.settings), openSink(deps, work), signal);
  if (executed.diagnostic)
    deps.log.error({ attempt_id: attemptId, diagnostic: executed.diagnostic }, 'the executor said');
  const result = isStopping() ? toInterruptedResult(work, executed) : toAttemptResult(work, executed);
  try {
    await deps.spool.settle(attemptId);
    await persist(deps, attemptId, () =>
      deps.transactions.run((tx) => completeAttempt(tx, deps.keyRing, attemptId, result)),
    );
  } catch (error) {
    if (!(error instanceof AttemptSuperseded)) throw error;
    deps.log.warn({ attempt_id: attemptId }, 'the result of an attempt that is over was refused');
  }
}

/** Whether it is this worker that ends, rather than the attempt that is to. */
function isStopping(): boolean {
  const { cancellationSignal } = Context.current();
  return cancellationSignal.aborted && String(cancellationSignal.reason).includes('WORKER_SHUTDOWN');
}

function openSink(deps: ExecutionDeps, work: AttemptWork): ExecutionSink {
  const attemptId = work.attempt.id;
  return {
    log: (chunk) => persist(deps, attemptId, (em) => appendLog(em, attemptId, chunk)),
    state: (content, { write, resourceCount }) => deps.spool.add({ attemptId, write, content, resourceCount }),
  };
}

/** Writes as soon as the database is there: an attempt outlasts its absence. Being superseded ends the attempt. */
async function persist(deps: ExecutionDeps, attemptId: string, write: (em: Em) => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await write(deps.orm.em.fork());
    } catch (error) {
      if (!isConnectionError(error) && !isUnknownOutcome(error)) throw error;
      deps.log.warn({ err: error, attempt_id: attemptId }, 'the database is away; an attempt waits for it');
      await sleep(databaseRetryMs);
    }
  }
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof Error && isConnectionError(error.cause);
}
