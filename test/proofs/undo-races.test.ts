import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Met, RaceStage, type Staged, type Use } from '#test/support/races/race-stage.ts';
import { type RivalName, rivalNames } from '#test/support/races/rivals.ts';
import { raced, seed } from '#test/support/races/sample.ts';

let races: RaceStage;
beforeAll(async () => {
  races = await RaceStage.start();
});
afterAll(() => races?.close());

const check: Use = async ({ user, run }) => {
  const key = { 'idempotency-key': randomUUID() };
  return () => user.post(`/runs/${run}/selective-undo/check`, undefined, key);
};

const plan: Use = async ({ stage, user, run }) => {
  const { id } = await stage.checked(run, user);
  return () => user.post(`/selective-undo/${id}/candidate-checks`);
};

const promotion: Use = async ({ stage, user, run }) => {
  const { id } = await stage.checked(run, user);
  const attempt = await stage.checkCandidate(id, ['thing.a'], user);
  return () => stage.promote(attempt, user);
};

interface Ending {
  /** The answer to the use, if the rival is decided first. */
  readonly late: string;
  /** The answer to the rival, if the use is decided first. */
  readonly rival: string;
}

/** Rivals that end the user's rights, or change nothing that an undo relies on. They have the same result for each step. */
const always = {
  'a transfer of the project': { late: '404 not_found', rival: '409 in_use' },
  'a transfer of the team': { late: '202', rival: '200' },
  'the revocation of the key': { late: '401 unauthenticated', rival: '204' },
  'the removal of the member': { late: '404 not_found', rival: '204' },
  'the demotion of the member': { late: '403 permission_denied', rival: '200' },
  'the yank of the version': { late: '202', rival: '200' },
  'the import of a state': { late: '202', rival: '409 state_exists' },
  'the unlocking of the instance': { late: '202', rival: '200' },
  'the deletion of the instance': { late: '202', rival: '409 in_use' },
} satisfies Partial<Record<RivalName, Ending>>;

/** The candidate check and the promotion. */
const endings: Record<RivalName, Ending> = {
  ...always,
  'the archiving of the environment': { late: '409 archived', rival: '409 in_use' },
  'the deletion of the environment': { late: '409 nothing_to_run_for', rival: '409 in_use' },
  'the deletion of the run': { late: '409 stale', rival: '204' },
  'another run of the instance': { late: '409 instance_busy', rival: '202' },
  'a run of another template': { late: '409 instance_busy', rival: '202' },
};

/** A step that reads the run before it is deleted, and what the run left after it, finds that its data are gone. */
const isLate = (rival: RivalName, outcome: string) =>
  outcome === endings[rival].late || (rival === 'the deletion of the run' && outcome === '409 undo_not_ready');

/** A check that finds something in the way answers with an attempt that is blocked. It admits no run. */
const blockedBy: Partial<Record<RivalName, string>> = {
  'the archiving of the environment': 'archived',
  'the deletion of the environment': 'target_gone',
  'the deletion of the run': 'data_gone',
  'another run of the instance': 'run_in_flight',
  'a run of another template': 'run_in_flight',
};

const attemptOf = async ({ api, run }: Staged) => {
  const [attempt] = await api.rows<{ id: string; state: string; problem: string | null }>(
    `select id, state, problem ->> 'code' as problem from selective_undo_attempts where run_id = ?`,
    [run],
  );
  return attempt;
};

/** Delivers the end of a run of an attempt, after which the attempt waits for nothing. */
async function settle({ staged, admitted: [run = ''] }: Met): Promise<void> {
  await staged.stage.endScan(run);
  expect((await attemptOf(staged))?.state).not.toMatch(/checking/);
}

describe(`a check and, at another service (seed ${seed}),`, () => {
  test.each(raced(rivalNames, 'check'))(
    '%s (%s) leave no attempt that waits forever, and no run for a deleted resource',
    async (rival, order) => {
      const met = await races.meet(check, rival, order);
      const { used } = met.outcome;
      const attempt = await attemptOf(met.staged);
      const problem = order === 'use first' ? undefined : blockedBy[rival];
      const late = rival in always ? always[rival as keyof typeof always].late : '202';
      expect(used).toBe(order === 'use first' ? '202' : late);
      if (problem) expect([attempt?.state, attempt?.problem, met.admitted]).toEqual(['blocked', problem, []]);
      else if (used !== '202') expect([attempt, met.admitted]).toEqual([undefined, []]);
      else if (met.admitted.length > 0) await settle(met);
      else expect([attempt?.state, attempt?.problem]).toEqual(['blocked', 'not_comparable']);
    },
  );
});

describe.each([
  ['a candidate check', plan, 'ready'],
  ['a promotion', promotion, 'promotable'],
] as const)(`%s and, at another service (seed ${seed}),`, (step, use, state) => {
  test.each(raced(rivalNames, step))(
    '%s (%s): the later one is refused by its rule, or finds a governed run',
    async (rival, order) => {
      const met = await races.meet(use, rival, order);
      const { rival: second } = endings[rival];
      if (order === 'use first') expect(met.outcome).toEqual({ used: '202', rival: second });
      else expect(isLate(rival, met.outcome.used), met.outcome.used).toBe(true);
      if (met.outcome.used !== '202') {
        expect([(await attemptOf(met.staged))?.state, met.admitted]).toEqual([state, []]);
        return;
      }
      expect(met.admitted).toHaveLength(1);
      if (use === plan) return settle(met);
      const { stage, api } = met.staged;
      await stage.planOnly(met.used.body.id, ['thing.a']);
      const [run] = await api.rows('select status, phase, undoes from runs where id = ?', [met.used.body.id]);
      expect(run).toEqual({ status: 'running', phase: 'applying', undoes: met.staged.run });
    },
  );
});
