import { describe, expect, it } from 'vitest';
import { type ApprovalFacts, countApprovals, findLapses, type RecordedReview } from '#domain/runs/approval/rules.ts';
import type { Permission } from '#domain/shared/access/permissions.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';

const owner = { organizationId: 'organization', teamId: 'team' };
const reviewer: Principal = {
  ...anonymous,
  id: 'reviewer',
  kind: 'user',
  role: 'maintainer',
  responsibleUserId: 'reviewer',
  teams: { team: 'admin' },
};
const review: RecordedReview = {
  id: 'review',
  person: 'reviewer',
  isPersonEnabled: true,
  reviewerId: 'reviewer',
  reviewerName: 'Rita',
  reviewer,
  isApproval: true,
};
const facts: ApprovalFacts = {
  planDigest: 'sha256:plan',
  required: 1,
  allowSelf: false,
  expiresAt: null,
  templateVersion: '1.0.0',
  owner,
  reviewNeeds: [],
  requesters: [{ person: 'requester', id: 'requester' }],
  publishers: [{ person: 'publisher', id: 'publisher' }],
  authors: [],
  reviews: [],
};
const now = (change: Partial<Principal>): Partial<RecordedReview> => ({ reviewer: { ...reviewer, ...change } });
const needs = (permission: Permission) => [{ permission, because: 'it runs a node of an assembly' }];
const own = { requesters: [{ person: 'reviewer', id: 'reviewer' }] };

type Row = [title: string, review: Partial<RecordedReview>, facts: Partial<ApprovalFacts>, reason: string | null];

describe('an approval', () => {
  it.each<Row>([
    ['counts while its reviewer may review', {}, {}, null],
    ['lapses when its reviewer is disabled', now({ enabled: false }), {}, 'disabled'],
    ['lapses when its reviewer is deleted', { reviewer: null }, {}, 'disabled'],
    [
      'lapses when the person who is responsible for its account is disabled',
      { isPersonEnabled: false },
      {},
      'disabled',
    ],
    ['lapses when its reviewer leaves the team', now({ teams: {} }), {}, 'not_permitted'],
    ['lapses when its reviewer becomes a viewer of the team', now({ teams: { team: 'viewer' } }), {}, 'not_permitted'],
    ['lapses when its reviewer loses the role that may approve', now({ role: 'requester' }), {}, 'not_permitted'],
    ['counts when its reviewer administers the platform', now({ role: 'admin', teams: {} }), {}, null],
    ['lapses when self-approval is no longer allowed', {}, own, 'self_approval'],
    [
      'lapses when its reviewer resumes the assembly run that the run is part of',
      {},
      { authors: [{ person: 'reviewer', id: 'reviewer', because: 'you started the assembly run' }] },
      'self_approval',
    ],
    [
      'counts while its reviewer has the permissions that the run needs',
      {},
      { reviewNeeds: needs('assembly:approve') },
      null,
    ],
    [
      'lapses when its reviewer lacks a permission that the run needs',
      {},
      { reviewNeeds: needs('user:manage') },
      'not_permitted',
    ],
    ['counts where self-approval is allowed', {}, { ...own, allowSelf: true }, null],
  ])('%s', (_title, change, changedFacts, reason) => {
    const given = { ...facts, ...changedFacts, reviews: [{ ...review, ...change }] };
    expect(countApprovals(given)).toBe(reason === null ? 1 : 0);
    const lapse = { reviewerId: 'reviewer', by: 'Rita', reason };
    expect(findLapses(given)).toEqual(reason === null ? [] : [lapse]);
  });

  it('an approval of another plan neither counts nor lapses', () => {
    const given = { ...facts, reviews: [{ ...review, isApproval: false, reviewer: null }] };
    expect(countApprovals(given)).toBe(0);
    expect(findLapses(given)).toEqual([]);
  });
});
