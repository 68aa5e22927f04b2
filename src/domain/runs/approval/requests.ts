import type { Em } from '#database/database.ts';
import { mayName } from '#domain/members/naming.ts';
import { type Principal, referenceTo } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { refuseByStatus } from '../actions.ts';
import type { Run } from '../entity.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { findUsersToAsk } from './reviewers.ts';
import { type ApprovalFacts, findObstacle, type ReviewObstacle, reviewingTakesRole } from './rules.ts';
import { readApprovalFacts } from './store.ts';

export interface ReviewRequest {
  readonly reviewers: readonly string[];
  readonly message: string;
}

/**
 * Asks people to review a run. From then on the run shows who was asked. A request that names nobody asks everybody who may review it. The
 * status of the run and who may review it stay the same. The caller has locked the run.
 * @throws ActionRefused if the run does not wait for approval
 * @throws Unprocessable naming every id of somebody who may not review the run, or whom the caller may not know about; or if nobody is
 * named and no user but the caller may review it
 */
export async function requestRunApproval(
  tx: Transaction,
  run: Run,
  by: Principal,
  { reviewers, message }: ReviewRequest,
): Promise<void> {
  refuseByStatus('request_approval', run.status);
  const ids = [...new Set(reviewers)];
  if (ids.length === 0) await requireAnyReviewer(tx.em, run.id, by);
  const asked = await requireReviewers(tx.em, run.id, by, ids);
  const added = asked.filter(({ id }) => !run.reviewers.some((reviewer) => reviewer.id === id));
  if (added.length > 0) {
    run.reviewers = [...run.reviewers, ...added.map(referenceTo)];
    run.revision += 1;
    await tx.em.flush();
  }
  publishRunEvent(tx, run, 'run.approval_requested', { by: by.name, reviewers: ids, message });
}

async function requireAnyReviewer(em: Em, runId: string, by: Principal): Promise<void> {
  const able = await findUsersToAsk(em, runId, by.id);
  if (able.length > 0) return;
  const message =
    'no other user may review this run now: give a person a role in its team and a platform role that may approve';
  throw new Unprocessable(message, { code: 'reviewers_ineligible' });
}

async function requireReviewers(em: Em, runId: string, by: Principal, ids: readonly string[]): Promise<Principal[]> {
  const found = await readPrincipals(em, ids);
  const facts = await readApprovalFacts(em, runId);
  const able: Principal[] = [];
  const refused: RefusedReviewer[] = [];
  for (const id of ids) {
    const reviewer = found.get(id);
    const known = reviewer && (await mayKnow(em, by, reviewer, facts)) ? reviewer : undefined;
    const obstacle = known ? findObstacle(facts, known) : undefined;
    if (known && obstacle === null) able.push(known);
    else refused.push({ id, obstacle: obstacle ?? null });
  }
  if (refused.length === 0) return able;
  throw refuseReviewers(refused);
}

/** Readers of a run may know its team's members; of others, only those whom they could add by id. */
async function mayKnow(em: Em, by: Principal, reviewer: Principal, { owner }: ApprovalFacts): Promise<boolean> {
  if (owner.teamId !== null && reviewer.teams[owner.teamId] !== undefined) return true;
  return mayName(em, by, reviewer);
}

/** Somebody named in a request who cannot review the run. */
interface RefusedReviewer {
  readonly id: string;
  /**
   * Null: the asker may not know about this principal. All such cases get the same answer: any other would reveal who exists and what
   * rights they have.
   */
  readonly obstacle: ReviewObstacle | null;
}

/** What is missing, and who can grant it. */
const obstacleReasons: Readonly<Record<ReviewObstacle, string>> = {
  disabled: 'the account is disabled; who manages users can enable it',
  permission: 'the platform role lacks the permission to review it; who manages users can give another role',
  team_role: `${reviewingTakesRole}; who manages the members of the team can give it`,
  requester: 'they requested it, or a run that it repeats, so another person must approve it',
  publisher: 'they published the version of its template, so another person must approve it',
  author: 'they are responsible for the run, so another person must approve it',
  already_reviewed: 'they have already decided on it',
};

function refuseReviewers(refused: readonly RefusedReviewer[]): Unprocessable {
  const rule =
    'a reviewer must be enabled and allowed to approve this run, must not have reviewed it yet, and must be visible to you';
  const errors = refused.map(({ id, obstacle }) => ({
    in: 'body',
    path: 'reviewers',
    message: `reviewers: ${id} may not review this run${obstacle === null ? '' : `: ${obstacleReasons[obstacle]}`}`,
  }));
  const named = refused.map(({ id, obstacle }) => (obstacle === null ? id : `${id} (${obstacleReasons[obstacle]})`));
  return new Unprocessable(`reviewers: these may not review this run: ${named.join(', ')}; ${rule}`, {
    code: 'reviewers_ineligible',
    details: { errors },
  });
}
