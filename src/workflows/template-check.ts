import { continueAsNew, proxyActivities, proxyLocalActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { CheckActivities, CheckStepActivities } from '#activities/template-checks.contract.ts';
import type { CheckStep } from '#domain/registry/checks/model.ts';
import { isActivityFailure, stepOptions } from './activity-options.ts';
import type { TemplateCheckInput } from './template-check.contract.ts';

const { nextCheckStep } = proxyLocalActivities<CheckStepActivities>(stepOptions);

/** The workflow of a check of a template version. PostgreSQL decides every step; the workflow runs the steps in order and waits. */
export async function templateCheck(input: TemplateCheckInput): Promise<void> {
  for (;;) {
    const step: CheckStep = await nextCheckStep(input.check_id);
    if (step.kind === 'end') return;
    if (step.kind === 'wait') await sleep(step.seconds * 1000);
    else await execute(input.check_id, step);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof templateCheck>(input);
  }
}

/** Makes a worker check. The result is in the database. If there is none, the next step decides how to continue. */
async function execute(id: string, step: Extract<CheckStep, { kind: 'execute' }>): Promise<void> {
  const { checkTemplate } = proxyActivities<CheckActivities>({
    taskQueue: step.taskQueue,
    startToCloseTimeout: step.timeoutSeconds * 1000,
    scheduleToStartTimeout: step.startWithinSeconds * 1000,
    heartbeatTimeout: '20s',
    retry: { maximumAttempts: 1 },
  });
  try {
    await checkTemplate(id);
  } catch (error) {
    if (!isActivityFailure(error)) throw error;
  }
}
