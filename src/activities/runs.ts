import { takeNextStep } from '#domain/runs/steps/advance.ts';
import type { ActivityDeps } from './deps.ts';
import type { RunActivities } from './runs.contract.ts';

export function createRunActivities({ transactions }: Pick<ActivityDeps, 'transactions'>): RunActivities {
  return {
    nextStep: (request) => transactions.run((tx) => takeNextStep(tx, request)),
  };
}
