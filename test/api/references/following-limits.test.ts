import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxChain, maxFollowers } from '#domain/following/model.ts';
import { newId } from '#domain/shared/ids.ts';
import { EventDelivery } from '#engine/event-delivery.ts';
import { Following, outputOf } from '#test/support/references/following.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** How often instances follow a change, how many of them, and for whom. */

let stage: ReadingStage;
let following: Following;
beforeAll(async () => {
  stage = await openReadingStage();
  following = new Following(stage);
});
afterAll(() => stage?.api.close());

/** Makes a run the last of so many that followed one another. */
async function chain(runId: string, length: number): Promise<void> {
  let later = runId;
  for (let made = 1; made < length; made++) {
    const { body } = await stage.ask({}, { instance: `chain-${newId()}`, operation: 'plan' });
    await stage.api.rows('update runs set started_by_run_id = ? where id = ?', [body.id, later]);
    later = body.id;
  }
}

/** Adds so many instances that are deployed as this one is and have followed everything by now. */
async function addFollowers(instance: string, count: number): Promise<void> {
  const id = `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`;
  const copy = (table: string, changed: string, key: string) =>
    stage.api.rows(
      `insert into ${table} select (jsonb_populate_record(x, jsonb_build_object(${changed}))).* from ${table} x, generate_series(1, ${count}) n where x.${key} = ?`,
      [instance],
    );
  await copy('instances', `'id', ${id}, 'name', x.name || n`, 'id');
  await copy('instance_follows', `'instance_id', ${id}`, 'instance_id');
}

describe('a change of outputs', () => {
  test('is followed through so many runs that follow one another, and no further', async () => {
    const { reader } = await following.pair('long');
    const near = await following.change('long', { size: plain(2) });
    await chain(near, maxChain - 1);
    await following.ended(near);
    const [first, ...others] = await following.runsOf(reader);
    expect([first?.source, others]).toEqual([near, []]);
    await stage.finish(first?.id ?? '');
    const far = await following.change('long', { size: plain(3) });
    await chain(far, maxChain);
    await following.ended(far);
    expect(await following.runsOf(reader)).toHaveLength(1);
    expect(await following.read(reader)).toMatchObject({ enabled: true, stopped_because: 'too_long' });
  });

  test('is followed by a hundred instances, and the others say that they are too many', async () => {
    const { reader } = await following.pair('crowd');
    const cause = await following.change('crowd', { size: plain(2) });
    await following.follow(reader);
    await addFollowers(reader, maxFollowers);
    await stage.api.rows(`update instance_follows set seen = 'before' where instance_id = ?`, [reader]);
    await following.ended(cause);
    expect(await following.runsOf(reader)).toEqual([]);
    expect(await following.read(reader)).toMatchObject({ stopped_because: null, failure: { reason: 'too_many' } });
    await stage.api.rows(`delete from instance_follows where instance_id <> ?`, [reader]);
    const next = await following.redeploy('crowd', { size: plain(3) });
    expect(await following.runsOf(reader)).toMatchObject([{ source: next }]);
  });

  test('is followed once by two workers who take the same event at the same time', async () => {
    const { reader } = await following.pair('raced');
    const cause = await following.change('raced', { size: plain(2) });
    await Promise.all([1, 2, 3, 4].map(() => following.ended(cause)));
    expect(await following.runsOf(reader)).toMatchObject([{ source: cause }]);
    expect((await following.read(reader)).failure).toBeNull();
  });

  test('is followed by one run where several sources changed at once, which names all of them', async () => {
    const other = await stage.deploy({ instance: 'second' }, { size: plain(1) });
    await stage.allow(other, { environment_ids: [stage.tenant.environment] });
    const { reader } = await following.pair('first', {
      size: outputOf('shared', 'first', 'size'),
      net: outputOf('shared', 'second', 'size'),
    });
    const causes = [
      await following.change('first', { size: plain(2) }),
      await following.change('second', { size: plain(2) }),
    ];
    await Promise.all(causes.map((id) => following.ended(id)));
    const runs = await following.runsOf(reader);
    expect(runs).toHaveLength(1);
    expect(causes).toContain(runs[0]?.source);
    expect(runs[0]?.message).toMatch(/first.*second|second.*first/);
    const { body } = await stage.tenant.owner.get(`/runs/${runs[0]?.id}`);
    expect(body.variables).toMatchObject({ size: 2, net: 2 });
  });

  test('is followed once although nobody delivered it, and the process that then did was killed', async () => {
    const { reader } = await following.pair('killed');
    const cause = await following.change('killed', { size: plain(2) });
    let deliveries = 0;
    const { orm } = stage.api.services;
    const delivery = new EventDelivery(
      { orm, log: pino({ level: 'silent' }) },
      {
        following: async ({ type, subject }) => {
          await following.happened(type, subject.id);
          if (subject.id === cause && ++deliveries === 1) throw new Error('killed');
        },
      },
    );
    delivery.start();
    await expect.poll(() => deliveries, { timeout: 30_000 }).toBe(2);
    await delivery.stop();
    expect(await following.runsOf(reader)).toMatchObject([{ source: cause }]);
  });
});
