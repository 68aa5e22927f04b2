import type { ShownRun } from '../../run-tab.ts';

/** How far the approval of a run that waits for it has come. */
export interface Standing {
  readonly required: number;
  /** How many approvals count now. */
  readonly given: number;
  /** Who gave them. */
  readonly approvedBy: readonly string[];
  /** How many are still missing. */
  readonly missing: number;
  /** Who was asked by name and has not decided. */
  readonly waitedFor: readonly string[];
}

export function findStanding({ approval, reviewers }: Pick<ShownRun, 'approval' | 'reviewers'>): Standing {
  const { required, reviews } = approval;
  const approvedBy = reviews.filter(({ counts }) => counts === true).map(({ by }) => by.name);
  const given = approvedBy.length;
  const decided = new Set(reviews.map(({ by }) => by.id));
  const waitedFor = reviewers.filter(({ id }) => !decided.has(id)).map(({ name }) => name);
  return { required, given, approvedBy, missing: Math.max(0, required - given), waitedFor };
}

/** What one more approval does. A button that approves must say so. */
export function describeApproval({ operation }: Pick<ShownRun, 'operation'>, { missing }: Standing): string {
  if (missing > 1) return `Approve (${missing - 1} more must follow)`;
  return operation === 'destroy' ? 'Approve and destroy' : 'Approve and apply';
}
