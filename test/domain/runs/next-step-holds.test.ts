import { describe, expect, it } from 'vitest';
import type { Hold } from '#domain/holds/holds.ts';
import { holdCodes } from '#domain/shared/vocabulary/holds.ts';
import { runStatuses } from '#domain/shared/vocabulary/runs.ts';
import {
  applying,
  type Change,
  decide,
  execute,
  finish,
  finished,
  lost,
  missing,
  now,
  planning,
  running,
  table,
} from '#test/support/runs/step-facts.ts';

/** The effects of a lock, a freeze window or a pause on a run in each of its states. */
const secondsFromNow = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
const holdOf = (until: string | null = null, code: Hold['code'] = 'locked'): Hold => ({
  code,
  since: secondsFromNow(-60),
  blocker: { by: { type: 'user', id: 'u', name: 'Ann' }, name: null, reason: 'incident', until },
});
const hold = holdOf();
const held = (seconds = 300, by: Hold = hold) => ({ kind: 'wait', seconds, waitingOn: by });
const open = { required: 0, when: 'never', allow_self: false } as const;
const pending = (change: Change = {}): Change => ({
  ...change,
  attempt: { ...planning, outcome: 'planned' },
  run: { status: 'pending_approval', approvalExpiresAt: new Date(now.getTime() + 60_000), ...change.run },
});

table('while applies are held, a run', [
  ['that is queued begins to plan', { hold }, { kind: 'begin' }],
  ['that plans goes on', running(planning, { hold }), { kind: 'resume' }],
  ['succeeds where its plan changes nothing', finished(planning, 'unchanged', { hold }), finish('succeeded')],
  [
    'that only plans succeeds',
    finished(planning, 'planned', { hold, run: { operation: 'plan' } }),
    finish('succeeded'),
  ],
  ['that needs approval asks for it', finished(planning, 'planned', { hold }), { kind: 'ask_approval', seconds: 3600 }],
  ['that needs no approval waits', finished(planning, 'planned', { hold, policy: open }), held()],
  [
    'waits one second for a hold that ends at this moment',
    finished(planning, 'planned', { hold: holdOf(secondsFromNow(0)), policy: open }),
    held(1, holdOf(secondsFromNow(0))),
  ],
  ['that destroys waits', finished(planning, 'planned', { hold, policy: open, run: { operation: 'destroy' } }), held()],
  [
    'that refreshes the state waits',
    finished(planning, 'planned', { hold, policy: open, run: { operation: 'refresh' } }),
    held(),
  ],
  ['that is approved waits', pending({ hold, approvals: 1 }), held()],
  [
    'that is not approved waits for approval',
    pending({ hold }),
    { kind: 'wait', seconds: 60, waitingOn: { code: 'approval' } },
  ],
  [
    'that was approved in time waits also after that time',
    pending({ hold, approvals: 1, run: { approvalExpiresAt: now } }),
    held(),
  ],
  [
    'whose instance changed after the plan fails',
    pending({ hold, approvals: 1, planIsCurrent: false }),
    finish('failed', 'plan_moved'),
  ],
  [
    'that applies is not interrupted',
    missing(applying, { hold, workerLiveness: 'alive' }),
    { kind: 'wait', seconds: 6 },
  ],
  ['that has applied succeeds', finished(applying, 'applied', { hold }), finish('succeeded')],
  [
    'that has written a state itself is not stale when its apply is repeated',
    missing(applying, { isPinCurrent: false, workerLiveness: 'gone', run: { retrySafe: true } }),
    { kind: 'execute', phase: 'applying', closes: lost },
  ],
  ['whose apply was handed back waits', finished(applying, 'handed_back', { hold }), held()],
  [
    'whose apply no worker took waits, and no worker may take it any more',
    missing({ ...applying, workerId: null }, { hold }),
    { ...held(), closes: { outcome: 'handed_back', isReported: false } },
  ],
  [
    'whose apply was lost and may be repeated waits',
    missing(applying, { hold, workerLiveness: 'gone', run: { retrySafe: true } }),
    { ...held(), closes: lost },
  ],
  [
    'whose apply was lost and may not be repeated fails',
    missing(applying, { hold, workerLiveness: 'gone' }),
    finish('failed', 'apply_interrupted', { closes: lost }),
  ],
  ['whose plan was handed back plans again', finished(planning, 'handed_back', { hold }), execute('planning')],
  [
    'that waits can be canceled',
    { ...finished(planning, 'planned', { hold, policy: open }), canceled: true },
    finish('canceled', 'canceled_by_user'),
  ],
]);

const waitingOn = { ...hold, since: now.toISOString(), position: null };
table('a run that was held', [
  ['applies once nothing holds it', pending({ approvals: 1, run: { waitingOn } }), { kind: 'apply' }],
  [
    'asks for approval again, with the whole time for it, once an approval has lapsed',
    pending({ hold, approvals: 0, run: { waitingOn, approvalExpiresAt: now } }),
    { kind: 'ask_approval', seconds: 3600 },
  ],
  [
    'waits until its hold ends, where that is soon',
    pending({ hold: holdOf(secondsFromNow(12.3)), approvals: 1 }),
    held(13, holdOf(secondsFromNow(12.3))),
  ],
  [
    'looks again after five minutes, where the hold ends later',
    pending({ hold: holdOf(secondsFromNow(86_400)), approvals: 1 }),
    held(300, holdOf(secondsFromNow(86_400))),
  ],
]);

describe('each kind of hold', () => {
  it.each(holdCodes)('%s lets no apply begin in any status', (code) => {
    const by = holdOf(null, code);
    const attempts = [null, ...[planning, applying].flatMap((attempt) => [attempt, { ...attempt, workerId: null }])];
    const outcomes = [null, 'planned', 'handed_back', 'lost'] as const;
    for (const status of runStatuses) {
      for (const attempt of attempts) {
        for (const outcome of outcomes) {
          if (status === 'running' && attempt === null) continue;
          const run = { status, retrySafe: true };
          const ended = attempt && { ...attempt, outcome };
          const step = decide({ hold: by, approvals: 1, attempt: ended, executed: 'a', run });
          expect(step.kind === 'execute' ? step.phase : step.kind).not.toMatch(/^apply/);
        }
      }
    }
  });
});
