import { type Access, decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { teamRoleActions, teamRoles } from '#domain/shared/vocabulary/roles.ts';
import type { LapseReason, ReviewNeed, RunAuthor } from '../model.ts';

/** A principal that did something, and the person who was responsible for it at that time. */
export interface Author {
  readonly person: string | null;
  readonly id: string;
}

/** A recorded review, with the present state of its reviewer. */
export interface RecordedReview {
  readonly id: string;
  /** The person who was responsible for the review. */
  readonly person: string;
  /** Whether that person is enabled. */
  readonly isPersonEnabled: boolean;
  readonly reviewerId: string;
  readonly reviewerName: string;
  /** Null: the reviewer was deleted. */
  readonly reviewer: Principal | null;
  /** Whether it approves the plan that waits now. */
  readonly isApproval: boolean;
}

/** The facts about a run that waits for approval, on which a review depends. */
export interface ApprovalFacts {
  readonly planDigest: string | null;
  /** How many approvals the stricter of the policies at admission and now demands. */
  readonly required: number;
  /** Whether both of these policies let people approve their own runs. */
  readonly allowSelf: boolean;
  /** RFC 3339. */
  readonly expiresAt: string | null;
  readonly templateVersion: string;
  readonly owner: Ownership;
  readonly reviewNeeds: readonly ReviewNeed[];
  /** Who requested the run, and the runs that it was requeued from. */
  readonly requesters: readonly Author[];
  /** Who published the template versions of these runs. */
  readonly publishers: readonly Author[];
  /** The people who are responsible for these runs besides their requesters. */
  readonly authors: readonly RunAuthor[];
  readonly reviews: readonly RecordedReview[];
}

export type Reviewer = Pick<Principal, 'id' | 'responsibleUserId'>;

/**
 * The authority that reviewing a run requires unless the run has needs of its own. It is checked when the review is recorded and again when
 * approvals are counted.
 */
export const reviewAuthority = {
  scope: 'team',
  hidden: 'not_found',
  anyOf: ['run:approve'],
  teamAction: 'team.metadata.write',
} as const satisfies Partial<Access>;

/** The roles in a team whose holders may review its runs, as far as their permissions allow it. */
export const reviewingTeamRoles = teamRoles.filter((role) =>
  teamRoleActions[role].includes(reviewAuthority.teamAction),
);

/** A clause that names the roles in a team that may review. */
export const reviewingTakesRole = `reviewing takes the role ${reviewingTeamRoles.join(' or ')} in the team`;

/** The authority for reviewing some run, checked before the run is known. `reviewAccess` then decides for that run. */
export const anyReviewAuthority = {
  ...reviewAuthority,
  anyOf: ['run:approve', 'assembly:approve'],
} as const satisfies Partial<Access>;

/**
 * The authority for reviewing a run with needs of its own, which replace the permission `run:approve`. Every path to a review demands all
 * of them.
 */
export function reviewAccess(needs: readonly ReviewNeed[]): Access {
  const [first, ...others] = needs.map(({ permission }) => permission);
  const permissions = first === undefined ? {} : { anyOf: [first], allOf: others };
  return { ...reviewAuthority, ...permissions, review: 'none' };
}

/**
 * The one rule for every review. A review must name the plan that waits (null: the digest is not compared). While approvals are missing, it
 * must come before the time for approval ends. Each person reviews once. The people who requested the run, requested a run that it was
 * requeued from, or published its version may not approve it, unless the environment allows that. Approvals beyond the required number are
 * refused. A rejection is possible until the run continues.
 */
export function findReviewRefusal(
  facts: ApprovalFacts,
  reviewer: Reviewer,
  { decision, planDigest }: { decision: 'approve' | 'reject'; planDigest: string | null },
): Refusal | null {
  if (planDigest !== null && planDigest !== facts.planDigest) return planMoved;
  if (hasExpired(facts) && !isApproved(facts)) return approvalExpired;
  const own = decision === 'approve' ? findSelfApproval(facts, reviewer) : null;
  if (own) return own;
  if (facts.reviews.some(({ person }) => person === responsiblePerson(reviewer))) return alreadyReviewed;
  if (decision === 'approve' && isApproved(facts)) return approvalComplete(facts.required);
  return null;
}

function hasExpired({ expiresAt }: ApprovalFacts): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}

function isApproved(facts: ApprovalFacts): boolean {
  return hasQuorum(facts.required, countApprovals(facts));
}

/** Reviews are compared by person. A service account reviews for its owner, or for itself if it has none. */
export function responsiblePerson(reviewer: Reviewer): string {
  return reviewer.responsibleUserId ?? reviewer.id;
}

export function hasQuorum(required: number, approvals: number): boolean {
  return approvals >= required;
}

/** Counts the approvals of the waiting plan whose reviewers could still give them. */
export function countApprovals(facts: Pick<ApprovalFacts, 'reviews'> & EligibilityFacts): number {
  return facts.reviews.filter((review) => countsNow(facts, review)).length;
}

/** Whether a review is an approval of the waiting plan whose reviewer could still give it. */
export function countsNow(facts: EligibilityFacts, review: RecordedReview): boolean {
  return review.isApproval && findLapse(facts, review) === null;
}

/** The facts that decide, besides the reviewer, whether an approval counts. */
type EligibilityFacts = Pick<
  ApprovalFacts,
  'owner' | 'reviewNeeds' | 'allowSelf' | 'requesters' | 'publishers' | 'authors' | 'templateVersion'
>;

/** Why an approval no longer counts; null while its reviewer is enabled and could still give it. */
export function findLapse(facts: EligibilityFacts, review: RecordedReview): LapseReason | null {
  const { reviewer, person, reviewerId, isPersonEnabled } = review;
  if (!reviewer?.enabled || !isPersonEnabled) return 'disabled';
  if (!mayReview(reviewer, facts)) return 'not_permitted';
  return findSelfApproval(facts, { id: reviewerId, responsibleUserId: person }) && 'self_approval';
}

/** An approval that no longer counts. */
export interface Lapse {
  readonly reviewerId: string;
  readonly by: string;
  readonly reason: LapseReason;
}

/** The approvals of the waiting plan that no longer count. */
export function findLapses(facts: Pick<ApprovalFacts, 'reviews'> & EligibilityFacts): Lapse[] {
  return facts.reviews.flatMap((review) => {
    const reason = review.isApproval ? findLapse(facts, review) : null;
    return reason === null ? [] : [{ reviewerId: review.reviewerId, by: review.reviewerName, reason }];
  });
}

/** Whether a principal has the authority to review a run of an owner. */
export function mayReview(
  principal: Principal,
  { owner, reviewNeeds }: Pick<ApprovalFacts, 'owner' | 'reviewNeeds'>,
): boolean {
  return decide(principal, reviewAccess(reviewNeeds), owner).allowed;
}

/** Whether a principal has the authority to review some run of an owner. */
export function mayReviewSome(principal: Principal, owner: Ownership): boolean {
  return decide(principal, { ...anyReviewAuthority, review: 'none' }, owner).allowed;
}

/** How somebody answers for a run. */
type Authorship =
  | { readonly as: 'requester' | 'publisher' }
  | { readonly as: 'author'; readonly because: RunAuthor['because'] };

/** The facts by which somebody answers for a run. */
type AuthorshipFacts = Pick<
  EligibilityFacts,
  'allowSelf' | 'requesters' | 'publishers' | 'authors' | 'templateVersion'
>;

/** The refusal of an approval of one's own run; null if the policies allow it. */
export function findSelfApproval(facts: AuthorshipFacts, reviewer: Reviewer): Refusal | null {
  const authorship = findAuthorship(facts, reviewer);
  if (authorship === null) return null;
  if (authorship.as === 'author') return selfApproval(authorship.because);
  if (authorship.as === 'requester') return selfApproval('you requested it, or a run that it repeats');
  return selfApproval(`you published version ${facts.templateVersion} of its template`);
}

/** How a reviewer answers for a run that they may therefore not approve; null if they do not, or the policies allow it. */
function findAuthorship(facts: AuthorshipFacts, reviewer: Reviewer): Authorship | null {
  if (facts.allowSelf) return null;
  if (facts.requesters.some((author) => isSame(author, reviewer))) return { as: 'requester' };
  if (facts.publishers.some((author) => isSame(author, reviewer))) return { as: 'publisher' };
  const author = facts.authors.find((other) => isSame(other, reviewer));
  return author ? { as: 'author', because: author.because } : null;
}

/** The reason why a person may not approve a run. */
export const reviewObstacles = [
  'disabled',
  'permission',
  'team_role',
  'requester',
  'publisher',
  'author',
  'already_reviewed',
] as const;
export type ReviewObstacle = (typeof reviewObstacles)[number];

/** Why the rules of a review do not let a principal approve a run; null if they do. */
export function findObstacle(facts: ApprovalFacts, principal: Principal): ReviewObstacle | null {
  if (!principal.enabled) return 'disabled';
  const decision = decide(principal, reviewAccess(facts.reviewNeeds), facts.owner);
  if (!decision.allowed) return decision.because === 'permission' ? 'permission' : 'team_role';
  const authorship = findAuthorship(facts, principal);
  if (authorship) return authorship.as;
  return facts.reviews.some(({ person }) => person === responsiblePerson(principal)) ? 'already_reviewed' : null;
}

/** An account counts as the author also after another person has become responsible for it. */
function isSame(author: Author, reviewer: Reviewer): boolean {
  return author.person === responsiblePerson(reviewer) || author.id === reviewer.id;
}

/** It does not tell the right digest: a reviewer must get that from the plan itself. */
const planMoved: Refusal = {
  code: 'plan_moved',
  message: 'plan_digest is not that of the plan that waits for approval: read the plan again',
};

const approvalExpired: Refusal = {
  code: 'approval_expired',
  message: 'the time for approval is over: requeue the run once it has ended',
};

/** @param why what makes the reviewer answer for the run */
function selfApproval(why: string): Refusal {
  const message = `another person must approve this run, because ${why}, and the environment does not allow self-approval`;
  return { code: 'self_approval', message };
}

const alreadyReviewed: Refusal = {
  code: 'already_reviewed',
  message: 'you have already decided on this run: each person may review it only once, by a session or any API key',
};

/** The run waits only until its workflow has seen the last approval. */
function approvalComplete(required: number): Refusal {
  const message = `the run has all the approvals that it needs (${required}): no further approval is necessary`;
  return { code: 'approval_complete', message };
}
