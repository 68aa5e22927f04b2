import type { ShownRun } from '../../run-tab.ts';

/** The progress of the approval of a run that waits for it. */
export interface Standing {
  readonly required: number;
  /** How many approvals count now. */
  readonly given: number;
  /** Who gave them. */
  readonly approvedBy: readonly string[];
  /** How many are still missing. */
  readonly missing: number;
  /** The people who were asked by name and have not decided. */
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

/** What one more approval starts. The button that approves must say so. */
export function describeApproval({ operation }: Pick<ShownRun, 'operation'>, { missing }: Standing): string {
  if (missing > 1) return `Approve (${missing - 1} more must follow)`;
  return operation === 'destroy' ? 'Approve and destroy' : 'Approve and apply';
}
