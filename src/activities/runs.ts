import { takeNextStep } from '#domain/runs/steps/advance.ts';
import { timed } from '#domain/shared/tasks/spans.ts';
import type { ActivityDeps } from './deps.ts';
import type { RunActivities } from './runs.contract.ts';

export function createRunActivities({ transactions }: Pick<ActivityDeps, 'transactions'>): RunActivities {
  return {
    nextStep: (request) =>
      timed('next_step', { runId: request.runId }, () => transactions.run((tx) => takeNextStep(tx, request))),
  };
}
