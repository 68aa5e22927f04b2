import { describe, expect, it } from 'vitest';
import {
  actionsByStatus,
  factsOfNewRun,
  findRunRefusal,
  findStatusRefusal,
  type RunAction,
  type RunFacts,
  runActions,
} from '#domain/runs/actions.ts';
import type { AdmissionFacts } from '#domain/runs/admission/rules.ts';
import { type ApprovalFacts, findReviewRefusal, type RecordedReview } from '#domain/runs/approval/rules.ts';
import { isCancellationOverdue, runTransitions } from '#domain/runs/model.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { toAction } from '#domain/shared/actions.ts';
import { isTerminal, type RunStatus, runStatuses } from '#domain/shared/vocabulary/runs.ts';

const reviewer: Principal = { ...anonymous, id: 'reviewer', kind: 'user', responsibleUserId: 'reviewer' };
/** A service account whose responsible user is the reviewer. */
const account: Principal = { ...anonymous, id: 'account', kind: 'service_account', responsibleUserId: 'reviewer' };
const past = '2020-01-01T00:00:00Z';
const later = new Date(Date.now() + 60_000).toISOString();

const approval: ApprovalFacts = {
  planDigest: 'sha256:plan',
  required: 2,
  allowSelf: false,
  expiresAt: later,
  templateVersion: '1.4.0',
  requesters: [{ person: 'requester', id: 'requester' }],
  publishers: [{ person: 'publisher', id: 'publisher' }],
  reviewNeeds: [],
  authors: [],
  owner: { organizationId: null, teamId: null },
  reviews: [],
};
const target = {
  organizationId: 'organization',
  teamId: 'team',
  projectId: 'project',
  environmentId: 'environment',
  templateId: 'template',
  templateSlug: 'network',
  approval: null,
  allowedOptions: [],
  planSecrets: null,
  tool: null,
  archived: [],
};
const admission: AdmissionFacts = {
  target,
  instance: 'network',
  occupant: { templateId: 'template', resourceCount: 3 },
  pool: { name: 'default', access: null },
};

describe('the actions of a run by its status', () => {
  const active = ['cancel', 'force'];
  const ended = ['requeue', 'copy', 'delete'];
  const expected: [RunStatus, string[]][] = [
    ['queued', active],
    ['running', active],
    ['canceling', active],
    ['pending_approval', [...active, 'request_approval', 'approve', 'reject']],
    ['succeeded', ended],
    ['failed', ended],
    ['canceled', ended],
    ['timed_out', ended],
  ];

  it.each(expected)('%s allows %j and refuses the others', (status, allowed) => {
    const found = runActions.filter((action) => findStatusRefusal(action, status) === null);
    expect([...found].sort()).toEqual([...allowed].sort());
  });

  it('cover every status and every action', () => {
    expect(Object.keys(actionsByStatus).sort()).toEqual([...runStatuses].sort());
    expect(new Set(Object.values(actionsByStatus).flat())).toEqual(new Set(runActions));
  });

  it('include a cancellation exactly if the run can become `canceling` or terminal', () => {
    for (const status of runStatuses) {
      const canEnd = runTransitions[status].some((to) => to === 'canceling' || isTerminal(to));
      expect(actionsByStatus[status].includes('cancel'), status).toBe(canEnd);
    }
  });

  const refusals: [RunAction, RunStatus, string][] = [
    ['cancel', 'failed', 'the run has already ended (failed): there is nothing to cancel'],
    ['force', 'succeeded', 'the run has already ended (succeeded): there is nothing to cancel'],
    ['request_approval', 'queued', 'the run is not waiting for approval: its status is queued'],
    ['approve', 'running', 'the run is not waiting for approval: its status is running'],
    ['reject', 'canceled', 'the run is not waiting for approval: its status is canceled'],
    ['requeue', 'running', 'the run has not ended (running): only a run that has ended can be requeued'],
    ['delete', 'queued', 'the run has not ended (queued): only a run that has ended can be deleted; cancel it first'],
  ];
  it.each(refusals)('refuse to %s a run that is %s, with the message "%s"', (action, status, message) => {
    expect(findStatusRefusal(action, status)).toMatchObject({ message });
  });
});

/** An approval by an enabled maintainer. */
const reviewBy = (person: string): RecordedReview => ({
  id: `of ${person}`,
  person,
  isPersonEnabled: true,
  reviewerId: person,
  reviewerName: person,
  reviewer: { ...anonymous, id: person, kind: 'user', role: 'maintainer', responsibleUserId: person },
  isApproval: true,
});

describe('the rule of approval', () => {
  const mine = /^another person must approve this run/;
  const done = /^you have already decided/;
  const approved = reviewBy('someone');
  type Row = [string, 'approve' | 'reject', Partial<ApprovalFacts>, RegExp | null, Principal?];
  const rows: Row[] = [
    ['lets somebody approve who has no part in the run', 'approve', {}, null],
    ['lets somebody reject who has no part in the run', 'reject', {}, null],
    ['refuses an approval by the requester', 'approve', { requesters: [{ person: 'reviewer', id: 'x' }] }, mine],
    [
      'refuses an approval by the account that asked',
      'approve',
      { requesters: [{ person: null, id: 'account' }] },
      mine,
      account,
    ],
    [
      'refuses an approval by an account of the requester',
      'approve',
      { requesters: [{ person: 'reviewer', id: 'reviewer' }] },
      mine,
      account,
    ],
    ['lets the requester reject', 'reject', { requesters: [{ person: 'reviewer', id: 'x' }] }, null],
    [
      'refuses an approval by the publisher, and names the version',
      'approve',
      { publishers: [{ person: 'reviewer', id: 'x' }] },
      /you published version 1\.4\.0/,
    ],
    ['lets the publisher reject', 'reject', { publishers: [{ person: 'reviewer', id: 'x' }] }, null],
    [
      'lets the requester approve where the environment allows it',
      'approve',
      { allowSelf: true, requesters: [{ person: 'reviewer', id: 'x' }] },
      null,
    ],
    ['refuses a second review of one person', 'approve', { reviews: [reviewBy('reviewer')] }, done],
    ['refuses to change an approval into a rejection', 'reject', { reviews: [reviewBy('reviewer')] }, done],
    [
      'refuses a second review by an account of the same person',
      'approve',
      { reviews: [reviewBy('reviewer')] },
      done,
      account,
    ],
    ['lets the second of two people approve', 'approve', { reviews: [approved] }, null],
    [
      'does not count an approval of another plan',
      'approve',
      { required: 1, reviews: [{ ...approved, isApproval: false }] },
      null,
    ],
    [
      'refuses an approval beyond those required',
      'approve',
      { required: 1, reviews: [approved] },
      /^the run has all the approvals that it needs \(1\)/,
    ],
    [
      'lets somebody reject while the approved run has not gone on',
      'reject',
      { required: 1, reviews: [approved] },
      null,
    ],
    [
      'refuses an approval after the time for it',
      'approve',
      { expiresAt: past },
      /^the time for approval is over: requeue the run once it has ended$/,
    ],
    [
      'refuses a rejection after the time for it',
      'reject',
      { expiresAt: past },
      /^the time for approval is over: requeue the run once it has ended$/,
    ],
    [
      'refuses a rejection after the time for it where an approval is missing',
      'reject',
      { expiresAt: past, reviews: [approved] },
      /^the time for approval is over/,
    ],
    [
      'lets somebody reject an approved run that is held, after the time for approval',
      'reject',
      { expiresAt: past, required: 1, reviews: [approved] },
      null,
    ],
    [
      'refuses an approval beyond those required also after the time for approval',
      'approve',
      { expiresAt: past, required: 1, reviews: [approved] },
      /^the run has all the approvals/,
    ],
  ];
  it.each(rows)('%s', (_title, decision, facts, message, caller = reviewer) => {
    const refusal = findReviewRefusal({ ...approval, ...facts }, caller, { decision, planDigest: null });
    expect(refusal?.message ?? null).toEqual(message === null ? null : expect.stringMatching(message));
    const run: RunFacts = {
      ...factsOfNewRun('pending_approval', 'apply'),
      approval: { ...approval, ...facts },
    };
    expect(findRunRefusal(decision, run, caller)?.message).toBe(refusal?.message);
  });

  it('refuses a review that names another plan before it looks at anything else', () => {
    const facts = { ...approval, expiresAt: past };
    const review = { decision: 'approve', planDigest: 'sha256:other' } as const;
    expect(findReviewRefusal(facts, reviewer, review)?.message).toMatch(/^plan_digest is not that of the plan/);
  });
});

describe('the rule of requeueing', () => {
  const rows: [string, Partial<AdmissionFacts>, RegExp | null][] = [
    ['allows what could be admitted anew', {}, null],
    [
      'refuses where the template or the environment is gone',
      { target: null },
      /^the run's template or environment is gone/,
    ],
    [
      'refuses where something is archived',
      { target: { ...target, archived: ['project'] } },
      /^the project is archived/,
    ],
    [
      'refuses where the instance holds what another template made',
      { occupant: { templateId: 'other', resourceCount: 1 } },
      /^the instance "network" was deployed from another template \(other\)/,
    ],
    [
      'allows an instance of another template that is empty',
      { occupant: { templateId: 'other', resourceCount: 0 } },
      null,
    ],
    ['allows an instance that does not exist yet', { occupant: null }, null],
    [
      'refuses where the pool is closed to the team',
      { pool: { name: 'gpu', access: { teamIds: ['other'], environmentIds: null } } },
      /^the worker pool "gpu" is not open/,
    ],
    [
      'allows a pool that is open to the team',
      { pool: { name: 'gpu', access: { teamIds: ['team'], environmentIds: null } } },
      null,
    ],
  ];
  it.each(rows)('%s', (_title, facts, message) => {
    const run: RunFacts = { ...factsOfNewRun('failed', 'apply'), admission: { ...admission, ...facts } };
    const refusal = findRunRefusal('requeue', run, reviewer);
    expect(refusal?.message ?? null).toEqual(message === null ? null : expect.stringMatching(message));
  });

  it('refuses a run that was deleted', () => {
    const run: RunFacts = { ...factsOfNewRun('failed', 'apply'), isDeleted: true, admission };
    expect(findRunRefusal('requeue', run, reviewer)?.message).toMatch(/^the run was deleted/);
  });
});

describe('the rule of copying', () => {
  const closed = { name: 'gpu', access: { teamIds: ['other'], environmentIds: null } };
  const rows: [string, Partial<AdmissionFacts>, RegExp | null][] = [
    [
      'refuses where the template or the environment is gone',
      { target: null },
      /^the run's template or environment is/,
    ],
    ['refuses where something is archived', { target: { ...target, archived: ['team'] } }, /^the team is archived/],
    [
      'allows an instance that holds what another template made, since the copy can name another instance',
      { occupant: { templateId: 'other', resourceCount: 1 } },
      null,
    ],
    ['allows a pool that is closed, since another version can use another pool', { pool: closed }, null],
  ];
  it.each(rows)('%s', (_title, facts, message) => {
    const run: RunFacts = { ...factsOfNewRun('failed', 'apply'), admission: { ...admission, ...facts } };
    const refusal = findRunRefusal('copy', run, reviewer);
    expect(refusal?.message ?? null).toEqual(message === null ? null : expect.stringMatching(message));
  });
});

it.each(['requeue', 'copy'] as const)(
  'a scan refuses %s: it is not repeated with the inputs of an earlier one',
  (action) => {
    const run: RunFacts = { ...factsOfNewRun('succeeded', 'scan'), admission };
    expect(findRunRefusal(action, run, reviewer)?.message).toMatch(/^a scan cannot be/);
  },
);

describe('an action', () => {
  it('has a reason exactly if it is not allowed', () => {
    expect(toAction('cancel', null)).toEqual({ name: 'cancel', allowed: true, reason: null });
    expect(toAction('cancel', 'no')).toEqual({ name: 'cancel', allowed: false, reason: 'no' });
  });
});

describe('a cancellation', () => {
  const requestedAt = new Date('2030-01-01T00:00:00Z');

  it.each([
    ['00:00:39.999', false],
    ['00:00:40', true],
  ])('a cancellation that was requested at 00:00:00 is overdue at %s: %s', (now, expected) => {
    expect(isCancellationOverdue(requestedAt, new Date(`2030-01-01T${now}Z`))).toBe(expected);
  });
});
