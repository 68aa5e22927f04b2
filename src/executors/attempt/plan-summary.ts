import type { ChangeAction, PlanSummary } from '#domain/runs/model.ts';
import type { PlannedChange } from '../protocol/request.ts';

/** Counts a plan's changes. A replacement counts as an addition and as a destruction. */
export function summarize(changes: readonly PlannedChange[]): PlanSummary {
  const count = (...actions: ChangeAction[]) => changes.filter(({ action }) => actions.includes(action)).length;
  return { add: count('create', 'replace'), change: count('update'), destroy: count('delete', 'replace') };
}
