import {
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { AttemptActivities, RunActivities } from '#activities/runs.contract.ts';
import type { NextStep } from '#domain/runs/model.ts';
import { isActivityFailure, stepOptions } from './activity-options.ts';
import { type RunInput, wake } from './run.contract.ts';

type AttemptStep = Extract<NextStep, { kind: 'execute' }>;

const { nextStep } = proxyLocalActivities<RunActivities>(stepOptions);

/**
 * The workflow of a run, from its admission to its end. PostgreSQL decides every next step (`takeNextStep`); the workflow runs the steps in
 * order, waits, and notices lost workers. It stays a simple loop, so that runs that wait for days work across releases.
 */
export async function run(input: RunInput): Promise<void> {
  let woken = false;
  let canceled = false;
  let executing: CancellationScope | undefined;
  setHandler(wake, () => {
    woken = true;
  });
  void CancellationScope.current().cancelRequested.catch(() => {
    canceled = true;
    executing?.cancel();
  });
  await CancellationScope.nonCancellable(async () => {
    let executed = input.executed ?? null;
    let suspected = false;
    let decided: NextStep | null = null;
    for (;;) {
      const told = canceled;
      let step: NextStep | null = canceled ? null : decided;
      decided = null;
      if (step === null) {
        woken = false;
        step = await nextStep({ runId: input.run_id, executed, canceled, suspected });
      }
      if (step.kind === 'end') return;
      suspected = step.kind === 'wait' && step.suspects === true;
      if (step.kind === 'execute') {
        // An attempt that decides the next step does so after this.
        woken = false;
        executing = new CancellationScope();
        if (canceled) executing.cancel();
        const attempt: AttemptStep = step;
        decided = await executing.run(() => executeUnlessLost(input.run_id, attempt));
        executing = undefined;
        executed = step.attemptId;
      } else {
        await condition(() => woken || canceled !== told, step.seconds * 1000);
      }
      if (workflowInfo().continueAsNewSuggested && !canceled) {
        await continueAsNew<typeof run>({ run_id: input.run_id, ...(executed && { executed }) });
      }
    }
  });
}

/**
 * Executes an attempt. Its outcome is in the database, even if the worker failed, was lost, or had to stop. Returns the next step if the
 * attempt has decided it.
 */
async function executeUnlessLost(runId: string, step: AttemptStep): Promise<NextStep | null> {
  const { executeAttempt } = proxyActivities<AttemptActivities>({
    taskQueue: step.taskQueue,
    startToCloseTimeout: step.timeoutSeconds * 1000,
    ...(step.startWithinSeconds !== undefined && { scheduleToStartTimeout: step.startWithinSeconds * 1000 }),
    heartbeatTimeout: '20s',
    retry: { maximumAttempts: 1 },
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    priority: { priorityKey: step.priority },
  });
  try {
    return (await executeAttempt({ runId, attemptId: step.attemptId })) ?? null;
  } catch (error) {
    if (!isCancellation(error) && !isActivityFailure(error)) throw error;
    return null;
  }
}
