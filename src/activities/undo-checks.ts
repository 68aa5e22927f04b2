import { advanceCheck, type FinishedRunDeps } from '#domain/undo/attempts/finished-run.ts';
import type { UndoCheckActivities } from './undo-checks.contract.ts';

export function createUndoCheckActivities(deps: FinishedRunDeps): UndoCheckActivities {
  return { advanceUndoCheck: (attemptId) => advanceCheck(deps, attemptId) };
}
