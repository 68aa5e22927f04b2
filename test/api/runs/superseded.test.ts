import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';

let stage: ReadingStage;
beforeAll(async () => {
  stage = await openReadingStage();
});
afterAll(() => stage?.api.close());

async function run(instance: string, more: object = {}): Promise<string> {
  const { status, body, text } = await stage.ask({}, { instance, ...more });
  expect([status, body.superseded_by], text).toEqual([202, null]);
  await stage.finish(body.id);
  return body.id;
}

const supersededBy = async (id: string) => (await stage.tenant.owner.get(`/runs/${id}`)).body.superseded_by;

describe('an apply that has ended', () => {
  test('names the newer run that has since deployed its instance, which a requeue would replace', async () => {
    const older = await run('twice');
    expect(await supersededBy(older)).toBeNull();
    const newer = await run('twice');
    const { template_version } = (await stage.tenant.owner.get(`/runs/${newer}`)).body;
    expect(await supersededBy(older)).toEqual({ run_id: newer, operation: 'apply', template_version });
    expect(await supersededBy(newer)).toBeNull();
  });

  test('names the newer run that has destroyed its instance since', async () => {
    const older = await run('gone');
    const destroy = await run('gone', { operation: 'destroy' });
    expect(await supersededBy(older)).toMatchObject({ run_id: destroy, operation: 'destroy' });
    expect(await supersededBy(destroy)).toBeNull();
  });
});

test('an apply names a newer run of another team only to those who may read that run', async () => {
  const older = await run('moved');
  const newer = await run('moved');
  const other = await makeTenant(stage.api);
  await stage.api.rows('update runs set team_id = ? where id = ?', [other.team, newer]);
  expect(await supersededBy(older)).toBeNull();
  await join(other, stage.tenant.owner, 'member', 'viewer');
  expect(await supersededBy(older)).toMatchObject({ run_id: newer });
});

test('a failed run names the newer run that has since deployed its instance', async () => {
  const { body } = await stage.ask({}, { instance: 'failed-first' });
  await stage.api.rows(
    `update runs set status = 'failed', phase = 'finished', waiting_on = null, finished_at = now() where id = ? returning id`,
    [body.id],
  );
  const newer = await run('failed-first');
  expect(await supersededBy(body.id)).toMatchObject({ run_id: newer });
});

test('a plan names no newer run, since repeating it changes nothing', async () => {
  const { body } = await stage.ask({}, { instance: 'planned', operation: 'plan' });
  await stage.api.rows(
    `update runs set status = 'succeeded', phase = 'finished', waiting_on = null, finished_at = now() where id = ? returning id`,
    [body.id],
  );
  await run('planned');
  expect(await supersededBy(body.id)).toBeNull();
});
