import { describe, expect, it } from 'vitest';
import { decideNextStep } from '#domain/runs/steps/next-step.ts';
import type { Step, StepFacts } from '#domain/runs/steps/step.ts';

/** Facts about a run, and test tables of the next step that they lead to. */

export const now = new Date('2026-11-21T12:00:00Z');
export const secondsAgo = (seconds: number) => new Date(now.getTime() - seconds * 1000);

export const run: StepFacts['run'] = {
  status: 'queued',
  operation: 'apply',
  statusReason: null,
  retrySafe: false,
  planSummary: null,
  approvalExpiresAt: null,
  timeouts: { plan: 600, approval: 3600, apply: 1200 },
};
export const facts: StepFacts = {
  run,
  attempt: null,
  workerLiveness: null,
  lostAttempts: 0,
  policy: { required: 1, when: 'always', allow_self: false },
  approvals: 0,
  lapses: 0,
  hold: null,
  planIsCurrent: true,
  isPinCurrent: true,
  poolIsOpen: true,
  blocker: null,
  fullQuota: null,
  isChanging: false,
  hasWorker: true,
  executed: null,
  canceled: false,
  suspected: false,
  now,
};
export type Attempt = NonNullable<StepFacts['attempt']>;
/** An attempt that a worker has claimed. */
export const planning: Attempt = {
  id: 'a',
  phase: 'planning',
  outcome: null,
  workerId: 'w',
  startedAt: secondsAgo(10),
};
export const applying: Attempt = { ...planning, phase: 'applying' };

export type Change = Omit<Partial<StepFacts>, 'run'> & { run?: Partial<StepFacts['run']> };
export const decide = ({ run: changed, ...rest }: Change): Step =>
  decideNextStep({ ...facts, ...rest, run: { ...run, ...changed } });

export const finish = (status: string, reason: string | null = null, more: object = {}) => ({
  kind: 'finish',
  status,
  reason,
  ...more,
});
export const execute = (phase: string, more: object = {}) => ({ kind: 'execute', phase, ...more });
export const lost = { outcome: 'lost', isReported: true };
export type Row = [string, Change, object];

export function table(title: string, rows: Row[]): void {
  describe(title, () => {
    it.each(rows)('%s', (_title, change, step) => {
      expect(decide(change)).toEqual(step);
    });
  });
}

/** What applies was approved. */
export const running = (attempt: Attempt, change: Change = {}): Change => ({
  approvals: attempt.phase === 'applying' ? 1 : 0,
  ...change,
  attempt,
  run: { status: 'running', ...change.run },
});
export const finished = (attempt: Attempt, outcome: Attempt['outcome'], change: Change = {}): Change =>
  running({ ...attempt, outcome }, change);
/** The workflow has executed the attempt, but its result is missing. */
export const missing = (attempt: Attempt, change: Change = {}): Change =>
  running(attempt, { executed: attempt.id, ...change });
