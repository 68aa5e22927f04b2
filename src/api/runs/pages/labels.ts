import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';

/** What a run does, as a verb before the name of its instance. */
export const operationWords: Readonly<Record<RunOperation, string>> = {
  apply: 'Apply',
  destroy: 'Destroy',
  plan: 'Plan only',
  refresh: 'Refresh state',
  scan: 'Scan for drift',
};
