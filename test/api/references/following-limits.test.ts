import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handleUpstreamEvent } from '#domain/following/follow-event.ts';
import { maxChain } from '#domain/following/model.ts';
import { newId } from '#domain/shared/ids.ts';
import { EventDelivery } from '#engine/event-delivery.ts';
import { Following, outputOf } from '#test/support/references/following.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { eagerSignals } from '#test/support/signals.ts';

/** Limits of how often, and how many, instances follow a change. */

let stage: ReadingStage;
let following: Following;
beforeAll(async () => {
  stage = await openReadingStage();
  following = new Following(stage);
});
afterAll(() => stage?.api.close());

/** Makes a run the last one of a number of consecutive runs. */
async function chain(runId: string, length: number): Promise<void> {
  let later = runId;
  for (let made = 1; made < length; made++) {
    const { body } = await stage.ask({}, { instance: `chain-${newId()}`, operation: 'plan' });
    await stage.api.rows('update runs set started_by_run_id = ? where id = ?', [body.id, later]);
    later = body.id;
  }
}

describe('a change of outputs', () => {
  test('is followed through a limited number of consecutive runs', async () => {
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

  test('is followed by a limited number of instances, and the others say that there are too many', async () => {
    const { source, reader: destroyed } = await following.pair('crowd');
    const readers = [];
    const size = outputOf('shared', 'crowd', 'size');
    for (const name of ['void', 'stopped', 'first', 'second', 'last'])
      readers.push((await following.reader(`crowd-${name}`, { size })).reader);
    const [moved = '', stopped = '', first = '', second = '', last = ''] = readers;
    const gone = await stage.ask({}, { instance: 'of-crowd', operation: 'destroy' });
    await stage.finish(gone.body.id);
    await stage.api.rows('update instance_follows set void_since = now() where instance_id = ?', [moved]);
    await stage.api.rows(`update instance_follows set failure = '{"reason": "loop"}' where instance_id = ?`, [stopped]);
    const cause = await following.change('crowd', { size: plain(2) });
    await handleUpstreamEvent(
      following.deps,
      { type: 'run.finished', subject: { id: cause } },
      { followers: 2, page: 2 },
    );
    for (const id of [first, second]) expect(await following.runsOf(id)).toMatchObject([{ source: cause }]);
    for (const id of [destroyed, moved, stopped, last]) expect(await following.runsOf(id)).toEqual([]);
    expect(await following.read(last)).toMatchObject({ stopped_because: null, failure: { reason: 'too_many' } });
    expect(await following.read(moved)).toMatchObject({ failure: { reason: 'owner_changed' } });
    const next = await following.redeploy('crowd', { size: plain(3) });
    expect(await following.runsOf(last)).toMatchObject([{ source: next }]);
    const { body } = await stage.tenant.owner.get(`/instances/${source}/dependencies`);
    expect(body.dependents).toHaveLength(readers.length);
  });

  test('is followed once even if two workers get the same event at the same time', async () => {
    const { reader } = await following.pair('raced');
    const cause = await following.change('raced', { size: plain(2) });
    await Promise.all([1, 2, 3, 4].map(() => following.ended(cause)));
    expect(await following.runsOf(reader)).toMatchObject([{ source: cause }]);
    expect((await following.read(reader)).failure).toBeNull();
  });

  test('is followed by one run, which names all sources, if several sources changed at once', async () => {
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

  test('is followed once even if its delivery was delayed and a process was killed during it', async () => {
    const { reader } = await following.pair('killed');
    const cause = await following.change('killed', { size: plain(2) });
    let deliveries = 0;
    const { orm } = stage.api.services;
    const delivery = new EventDelivery(
      { orm, log: pino({ level: 'silent' }), signals: eagerSignals },
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
