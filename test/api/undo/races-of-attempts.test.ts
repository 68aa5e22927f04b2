import { afterAll, beforeAll, expect, test } from 'vitest';
import { at, orders } from '#test/support/races/race.ts';
import { RaceStage, type Staged, type Use } from '#test/support/races/race-stage.ts';

let races: RaceStage;
beforeAll(async () => {
  races = await RaceStage.start();
});
afterAll(() => races?.close());

async function readAttempt({ api, stage, run }: Staged) {
  const [attempt] = await api.rows<{ id: string }>('select id from selective_undo_attempts where run_id = ?', [run]);
  return stage.read(attempt?.id ?? '');
}

const promotion: Use = async ({ stage, user, run }) => {
  const { id } = await stage.checked(run, user);
  const attempt = await stage.checkCandidate(id, ['thing.a'], user);
  return () => stage.promote(attempt, user);
};

/** The owner of the tenant promotes the same attempt at the other service. */
const samePromotion: Use = async (staged) => {
  const attempt = await readAttempt(staged);
  return () => staged.stage.promote(attempt, at(races.there, staged.tenant.owner));
};

test.each(orders)('promotions of one attempt at two services (%s) admit one run', async (order) => {
  const { staged, outcome } = await races.meet(promotion, samePromotion, order);
  expect(Object.values(outcome).sort()).toEqual(['202', '409 undo_not_ready']);
  const runs = await staged.api.rows('select id from runs where undoes = ?', [staged.run]);
  expect(runs).toHaveLength(1);
  expect(await readAttempt(staged)).toMatchObject({ state: 'promoted', promoted_run_id: runs[0]?.['id' as never] });
});

test.each(orders)('candidate checks of one attempt at two services (%s) admit one run', async (order) => {
  const plan: Use = async ({ stage, user, run }) => {
    const { id } = await stage.checked(run, user);
    return () => user.post(`/selective-undo/${id}/candidate-checks`);
  };
  const samePlan: Use = async (staged) => {
    const { id } = await readAttempt(staged);
    return () => at(races.there, staged.tenant.owner).post(`/selective-undo/${id}/candidate-checks`);
  };
  const { staged, outcome } = await races.meet(plan, samePlan, order);
  expect(Object.values(outcome).sort()).toEqual(['202', '409 undo_not_ready']);
  const plans = await staged.api.rows(`select id from runs where instance_id = ? and operation = 'plan'`, [
    staged.instance,
  ]);
  expect(plans).toHaveLength(1);
});

test('a promotion whose key expires before its transaction begins is refused, and admits nothing', async () => {
  const expiry: Use = async ({ api, user, admin }) => {
    const expire = `update api_keys set expires_at = now() - interval '1 second' where principal_id = ?`;
    return async () => {
      await api.rows(expire, [user.id]);
      return admin.get('/profile');
    };
  };
  const { staged, outcome, admitted } = await races.meet(promotion, expiry, 'meanwhile');
  expect([outcome.used, admitted]).toEqual(['401 unauthenticated', []]);
  expect((await readAttempt(staged)).state).toBe('promotable');
});

test.each(orders)(
  'a promotion whose accepted plan is deleted at the same time (%s) ends its run as stale',
  async (order) => {
    const deletion: Use = async (staged) => {
      const [plan] = await staged.api.rows<{ id: string }>(
        `select id from runs where instance_id = ? and operation = 'plan'`,
        [staged.instance],
      );
      return () => at(races.there, staged.admin).delete(`/runs/${plan?.id}`);
    };
    const { staged, used, outcome } = await races.meet(promotion, deletion, order);
    expect(outcome).toEqual({ used: '202', rival: '204' });
    expect(await staged.stage.planOnly(used.body.id, ['thing.a'])).toEqual({ kind: 'end' });
    const ended = await staged.api.rows('select status, status_reason as reason from runs where id = ?', [
      used.body.id,
    ]);
    expect(ended).toEqual([{ status: 'failed', reason: 'stale' }]);
  },
);
