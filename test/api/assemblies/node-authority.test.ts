import { afterEach, describe, expect, it, vi } from 'vitest';
import { approve } from '#api/assemblies/node-operations.ts';
import { decideOperation, decideTarget, type ProtectedOperation } from '#api/pipeline/access/authorization.ts';
import { review } from '#api/runs/approvals/approval-operations.ts';
import { list as inbox } from '#api/runs/approvals/inbox-operations.ts';
import { nodeReviewNeed } from '#domain/assemblies/authority.ts';
import { mayReview, mayReviewSome } from '#domain/runs/approval/rules.ts';
import { type Permission, rolePermissions } from '#domain/shared/access/permissions.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';

const owner = { organizationId: 'organization', teamId: 'team' };
const ofNode = { ...owner, reviewNeeds: [nodeReviewNeed] };
const ofNoNode = { ...owner, reviewNeeds: [] };

/** A member of the team with only these permissions. No present role has one of them without the other. */
function reviewerWith(permissions: readonly Permission[], team: Principal['teams'][string] = 'admin'): Principal {
  vi.spyOn(rolePermissions.requester, 'has').mockImplementation((permission) => permissions.includes(permission));
  return {
    ...anonymous,
    id: 'reviewer',
    kind: 'user',
    role: 'requester',
    responsibleUserId: 'reviewer',
    teams: { team },
  };
}

function mayUse(operation: unknown, reviewer: Principal, target: typeof ofNode | typeof ofNoNode): boolean {
  const declared = operation as ProtectedOperation;
  const decisions = [decideOperation(declared, reviewer), decideTarget(declared, reviewer, target)];
  return decisions.every(({ decision }) => decision.allowed);
}

/** The responses of every path to the review of a run. */
function answersFor(reviewer: Principal, target: typeof ofNode | typeof ofNoNode) {
  return {
    review: mayUse(review, reviewer, target),
    counts: mayReview(reviewer, { owner, reviewNeeds: target.reviewNeeds }),
  };
}

describe('the authority to review the run of a node', () => {
  afterEach(() => vi.restoreAllMocks());

  it('consists of assembly:approve and team.metadata.write, on every path', () => {
    const reviewer = reviewerWith(['assembly:approve']);
    expect(mayUse(approve, reviewer, ofNode)).toBe(true);
    expect(answersFor(reviewer, ofNode)).toEqual({ review: true, counts: true });
    expect(decideOperation(inbox as unknown as ProtectedOperation, reviewer).decision.allowed).toBe(true);
    expect(mayReviewSome(reviewer, owner)).toBe(true);
  });

  it('does not include the review of other runs', () => {
    expect(answersFor(reviewerWith(['assembly:approve']), ofNoNode)).toEqual({ review: false, counts: false });
  });

  it('is not included in the authority to review runs', () => {
    const reviewer = reviewerWith(['run:approve']);
    expect(mayUse(approve, reviewer, ofNode)).toBe(false);
    expect(answersFor(reviewer, ofNode)).toEqual({ review: false, counts: false });
    expect(answersFor(reviewer, ofNoNode)).toEqual({ review: true, counts: true });
  });

  it.each(['viewer', 'member'] as const)('is not held by a %s of the team', (role) => {
    const reviewer = reviewerWith(['assembly:approve'], role);
    expect(mayUse(approve, reviewer, ofNode)).toBe(false);
    expect(answersFor(reviewer, ofNode)).toEqual({ review: false, counts: false });
    expect(mayReviewSome(reviewer, owner)).toBe(false);
  });
});
