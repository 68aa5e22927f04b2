import { describe, expect, it } from 'vitest';
import { decideNextStep } from '#domain/runs/steps/next-step.ts';
import { isTerminal, type RunStatus, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import {
  type Attempt,
  applying,
  type Change,
  decide,
  facts,
  finish,
  now,
  planning,
  running,
  secondsAgo,
  table,
} from '#test/support/runs/step-facts.ts';

const two = { required: 2, when: 'always', allow_self: false } as const;
const pending = (change: Change = {}, expiresAt = new Date(now.getTime() + 90_500)): Change => ({
  ...change,
  attempt: { ...planning, outcome: 'planned' },
  policy: change.policy ?? two,
  run: { status: 'pending_approval', approvalExpiresAt: expiresAt, ...change.run },
});
const forApproval = { waitingOn: { code: 'approval' } };
const inAnHour = new Date(now.getTime() + 3_600_000);
table('a run that waits for approval', [
  [
    'waits until the time for approval is over',
    pending({ approvals: 1 }),
    { kind: 'wait', seconds: 91, ...forApproval },
  ],
  [
    'waits until the time for approval is over where nobody has approved',
    pending({}, inAnHour),
    { kind: 'wait', seconds: 3600, ...forApproval },
  ],
  [
    'looks again every 300 seconds once somebody has approved, since the approval may lapse',
    pending({ approvals: 1 }, inAnHour),
    { kind: 'wait', seconds: 300, ...forApproval },
  ],
  [
    'looks again every 300 seconds where an approval has lapsed, since it may count again',
    pending({ lapses: 1 }, inAnHour),
    { kind: 'wait', seconds: 300, ...forApproval },
  ],
  ['applies once enough people have approved', pending({ approvals: 2 }), { kind: 'apply' }],
  ['applies with more approvals than required', pending({ approvals: 3 }), { kind: 'apply' }],
  [
    'is timed out once the time for approval is over',
    pending({ approvals: 1 }, now),
    finish('timed_out', 'approval_timeout'),
  ],
  ['applies what was approved in time', pending({ approvals: 2 }, secondsAgo(60)), { kind: 'apply' }],
  [
    'applies where the policy no longer demands approval of what the plan does',
    pending({ policy: { ...two, when: 'destroys' } }),
    { kind: 'apply' },
  ],
  [
    'fails where the instance changed after the approved plan',
    pending({ approvals: 2, planIsCurrent: false }),
    finish('failed', 'plan_moved'),
  ],
  [
    'fails as stale where the instance is not as it was when it was asked for, even before it is approved',
    pending({ approvals: 1, isPinCurrent: false }),
    finish('failed', 'stale'),
  ],
  [
    'fails as stale rather than wait for approvals that come too late',
    pending({ isPinCurrent: false }, now),
    finish('failed', 'stale'),
  ],
  [
    'fails as stale rather than for its moved plan',
    pending({ approvals: 2, isPinCurrent: false, planIsCurrent: false }),
    finish('failed', 'stale'),
  ],
]);

const canceling = (attempt: Attempt | null, change: Change = {}): Change => ({
  ...change,
  attempt,
  run: { status: 'canceling', statusReason: 'canceled_by_user', ...change.run },
});
const closes = (outcome: string) => ({ closes: { outcome, isReported: false } });
table('a run that is being canceled', [
  ['is canceled where nothing was executed', canceling(null), finish('canceled', 'canceled_by_user')],
  ['waits while its worker is alive', canceling(applying, { workerLiveness: 'alive' }), { kind: 'wait', seconds: 6 }],
  [
    'waits once more where its worker is silent',
    canceling(applying, { workerLiveness: 'silent' }),
    { kind: 'wait', seconds: 6, suspects: true },
  ],
  [
    'has failed where the worker of its apply is gone',
    canceling(applying, { workerLiveness: 'gone' }),
    finish('failed', 'apply_interrupted', closes('lost')),
  ],
  [
    'is canceled where the worker of its plan is gone',
    canceling(planning, { workerLiveness: 'gone' }),
    finish('canceled', 'canceled_by_user', closes('canceled')),
  ],
  [
    'is canceled where no worker had taken its apply',
    canceling({ ...applying, workerId: null }),
    finish('canceled', 'canceled_by_user', closes('canceled')),
  ],
  ['has succeeded where its apply was finished', canceling({ ...applying, outcome: 'applied' }), finish('succeeded')],
  [
    'has failed where its apply was lost',
    canceling({ ...applying, outcome: 'lost' }),
    finish('failed', 'apply_interrupted'),
  ],
  [
    'is canceled where its apply was canceled',
    canceling({ ...applying, outcome: 'canceled' }),
    finish('canceled', 'canceled_by_user'),
  ],
  [
    'is canceled where its plan was lost',
    canceling({ ...planning, outcome: 'lost' }),
    finish('canceled', 'canceled_by_user'),
  ],
  [
    'has failed where a state could not be stored',
    canceling({ ...applying, outcome: 'failed' }, { run: { statusReason: 'state_refused' } }),
    finish('failed', 'state_refused'),
  ],
  [
    'has succeeded where its apply was finished, whatever state was refused',
    canceling({ ...applying, outcome: 'applied' }, { run: { statusReason: 'state_refused' } }),
    finish('succeeded'),
  ],
]);

table('a workflow that was canceled itself', [
  ['cancels a queued run', { canceled: true }, finish('canceled', 'canceled_by_user')],
  [
    'cancels a run that waits for approval',
    pending({ canceled: true, approvals: 2 }),
    finish('canceled', 'canceled_by_user'),
  ],
  [
    'waits for the worker of a running run',
    running(applying, { canceled: true, workerLiveness: 'alive' }),
    { kind: 'wait', seconds: 6 },
  ],
  [
    'cancels a running run that no worker has taken, executed or not',
    running({ ...planning, workerId: null }, { canceled: true }),
    finish('canceled', 'canceled_by_user', closes('canceled')),
  ],
]);

describe('every status', () => {
  it.each(runStatuses.filter(isTerminal))('%s: the run has ended, and there is nothing to do', (status: RunStatus) => {
    expect(decide({ run: { status }, canceled: true })).toEqual({ kind: 'nothing' });
    expect(decide({ run: { status } })).toEqual({ kind: 'nothing' });
  });

  it('leads to the same decision from the same facts, which stay unchanged', () => {
    const given = JSON.stringify(facts);
    expect(decideNextStep(facts)).toEqual(decideNextStep(facts));
    expect(JSON.stringify(facts)).toBe(given);
  });
});
