import type { Em } from '#database/database.ts';
import { mayName } from '#domain/members/acquaintance.ts';
import { type Principal, referenceTo } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { refuseByStatus } from '../actions.ts';
import type { Run } from '../entity.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { type ApprovalFacts, findObstacle } from './rules.ts';
import { readApprovalFacts } from './store.ts';

export interface ReviewRequest {
  readonly reviewers: readonly string[];
  readonly message: string;
}

/**
 * Asks people to review a run, which shows them from then on. The status of the run and who may review it stay the same. The
 * caller has locked the run.
 * @throws ActionRefused if the run does not wait for approval
 * @throws Unprocessable naming every id of somebody who may not review the run, or whom the caller may not know
 */
export async function requestRunApproval(
  tx: Transaction,
  run: Run,
  by: Principal,
  { reviewers, message }: ReviewRequest,
): Promise<void> {
  refuseByStatus('request_approval', run.status);
  const ids = [...new Set(reviewers)];
  const asked = await requireReviewers(tx.em, run.id, by, ids);
  const added = asked.filter(({ id }) => !run.reviewers.some((reviewer) => reviewer.id === id));
  if (added.length > 0) {
    run.reviewers = [...run.reviewers, ...added.map(referenceTo)];
    run.revision += 1;
    await tx.em.flush();
  }
  publishRunEvent(tx, run, 'run.approval_requested', { by: by.name, reviewers: ids, message });
}

async function requireReviewers(em: Em, runId: string, by: Principal, ids: readonly string[]): Promise<Principal[]> {
  const found = await readPrincipals(em, ids);
  const facts = await readApprovalFacts(em, runId);
  const able: Principal[] = [];
  for (const id of ids) {
    const reviewer = found.get(id);
    if (reviewer && findObstacle(facts, reviewer) === null && (await mayKnow(em, by, reviewer, facts)))
      able.push(reviewer);
  }
  if (able.length === ids.length) return able;
  throw refuseReviewers(ids.filter((id) => !able.some((reviewer) => reviewer.id === id)));
}

/** Readers of a run may know its team's members; of others, only those whom they could add by id. */
async function mayKnow(em: Em, by: Principal, reviewer: Principal, { owner }: ApprovalFacts): Promise<boolean> {
  if (owner.teamId !== null && reviewer.teams[owner.teamId] !== undefined) return true;
  return mayName(em, by, reviewer);
}

/** One answer for all reasons: any other would tell who exists and what their rights are. */
function refuseReviewers(ids: readonly string[]): Unprocessable {
  const rule =
    'a reviewer must be enabled and allowed to approve this run, must not have reviewed it yet, and must be somebody whom you may know';
  const errors = ids.map((id) => ({
    in: 'body',
    path: 'reviewers',
    message: `reviewers: ${id} may not review this run`,
  }));
  return new Unprocessable(`reviewers: these may not review this run: ${ids.join(', ')}; ${rule}`, {
    code: 'reviewers_ineligible',
    details: { errors },
  });
}
