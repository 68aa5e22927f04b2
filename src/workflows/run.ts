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
import type { Beginning, NextStep } from '#domain/runs/model.ts';
import { isActivityFailure, stepOptions } from './activity-options.ts';
import { type RunInput, wake } from './run.contract.ts';

type AttemptStep = Extract<NextStep, { kind: 'execute' }>;

/** A worker with a free slot begins a run within this time. Otherwise the run asks for its first step, which says why it waits. */
const beginWithin = '1s';

const { nextStep } = proxyLocalActivities<RunActivities>(stepOptions);

/**
 * The workflow of a run, from its admission to its end. PostgreSQL decides every next step (`takeNextStep`); the workflow runs the steps in
 * order, waits, and notices lost workers. It stays a simple loop, so that runs that wait for days work across releases.
 */
export async function run(input: RunInput): Promise<void> {
  let woken = false;
  let canceled = false;
  let executing: CancellationScope | undefined;
  const execute = async (activity: () => Promise<NextStep | null | undefined>) => {
    executing = new CancellationScope();
    if (canceled) executing.cancel();
    const next = await executing.run(() => orNothing(activity));
    executing = undefined;
    return next;
  };
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
    const { begin } = input;
    let decided = begin && !canceled ? await execute(() => beginRun(input.run_id, begin)) : null;
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
        const attempt: AttemptStep = step;
        decided = await execute(() => executeAttempt(input.run_id, attempt));
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

/** What the activities that execute attempts have in common. A lost worker is noticed by its heartbeats. */
const attemptOptions = {
  heartbeatTimeout: '20s',
  retry: { maximumAttempts: 1 },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
} as const;

function beginRun(runId: string, { queue, timeout_seconds: seconds, priority }: Beginning): Promise<NextStep | null> {
  const activities = proxyActivities<AttemptActivities>({
    ...attemptOptions,
    taskQueue: queue,
    startToCloseTimeout: seconds * 1000,
    scheduleToStartTimeout: beginWithin,
    priority: { priorityKey: priority },
  });
  return activities.beginRun({ runId });
}

function executeAttempt(runId: string, step: AttemptStep): Promise<NextStep | null | undefined> {
  const activities = proxyActivities<AttemptActivities>({
    ...attemptOptions,
    taskQueue: step.taskQueue,
    startToCloseTimeout: step.timeoutSeconds * 1000,
    ...(step.startWithinSeconds !== undefined && { scheduleToStartTimeout: step.startWithinSeconds * 1000 }),
    priority: { priorityKey: step.priority },
  });
  return activities.executeAttempt({ runId, attemptId: step.attemptId });
}

/**
 * Runs an activity that executes attempts. Their outcome is in the database, even if the worker failed, was lost, or had to stop. Returns the
 * next step if the activity has decided it.
 */
async function orNothing(activity: () => Promise<NextStep | null | undefined>): Promise<NextStep | null> {
  try {
    return (await activity()) ?? null;
  } catch (error) {
    if (!isCancellation(error) && !isActivityFailure(error)) throw error;
    return null;
  }
}
