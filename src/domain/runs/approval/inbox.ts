import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageByRule } from '#domain/shared/paging/paging.ts';
import { findRunRefusal } from '../actions.ts';
import { findPending, type PendingFilter, type PendingRun } from './inbox-store.ts';
import { mayReview } from './rules.ts';

/** How many runs one page examines. Most waiting runs may be approved by most reviewers, so few are skipped. */
const maxRuns = 500;

export interface ApprovalRequest extends PendingFilter {
  readonly page: PageRequest;
}

/** The runs that wait for the approval of a reviewer, oldest first: exactly those that `runs.review` would let them approve now. */
export function listApprovals(
  em: Em,
  reviewer: Principal,
  { page, ...filter }: ApprovalRequest,
): Promise<Page<PendingRun>> {
  return pageByRule(page, {
    read: (after, limit) => findPending(em, reviewer, { after, limit, ...filter }),
    isListed: (run) =>
      mayReview(reviewer, { owner: run, reviewNeeds: run.reviewNeeds }) &&
      findRunRefusal('approve', run.facts, reviewer) === null,
    max: maxRuns,
  });
}
