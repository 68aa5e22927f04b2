import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Following, outputOf as of } from '#test/support/references/following.ts';
import { openReadingStage, plain, type ReadingStage, secret } from '#test/support/references/reading-stage.ts';

/** Instances are deployed again when the outputs that they use change. */

let stage: ReadingStage;
let following: Following;
beforeAll(async () => {
  stage = await openReadingStage();
  following = new Following(stage);
});
afterAll(() => stage?.api.close());

describe('an instance that follows', () => {
  test('gets one run, with its cause, after an apply that changed an output that it uses', async () => {
    const { reader } = await following.pair('followed', {
      size: of('shared', 'followed', 'size'),
      net: { kept: '$${instances.a/b.outputs.c}', token: of('shared', 'followed', 'token') },
    });
    const cause = await following.redeploy('followed', { size: plain(2), token: secret('hidden-2') });
    await following.ended(cause);
    const runs = await following.runsOf(reader);
    expect(runs).toMatchObject([{ source: cause, status: 'queued', requester: stage.tenant.owner.id }]);
    const id = runs[0]?.id ?? '';
    const { body } = await stage.tenant.owner.get(`/runs/${id}`);
    expect(body).toMatchObject({ operation: 'apply', started_by_run_id: cause, requeued_from: null });
    expect(body.variables.size).toBe(2);
    expect(body.reads.map((read: { copied: boolean }) => read.copied)).toEqual([false, false]);
    const { inputs } = await stage.claimPlan(id);
    expect(inputs.variables['net']).toEqual({ kept: '${instances.a/b.outputs.c}', token: 'hidden-2' });
    const visitor = await signInVisitor(stage.api, stage.tenant.owner);
    expect((await visitor.get(`/workloads/runs/${id}`)).text).toContain('changed outputs that it reads');
    expect((await visitor.get(`/workloads/runs/${cause}?tab=details`)).text).toContain('of-followed');
    const events = await stage.api.rows(
      `select data from domain_events where type = 'instance.follow_started' and subject_id = ?`,
      [reader],
    );
    expect(events).toMatchObject([{ data: { run_id: id, started_by_run_id: cause } }]);
  });

  test('gets no run if the outputs are unchanged, or once it no longer follows', async () => {
    const { reader } = await following.pair('still');
    await following.redeploy('still', { size: plain(1), token: secret('another') });
    expect(await following.runsOf(reader)).toEqual([]);
    expect((await following.follow(reader, false)).status).toBe(200);
    await following.redeploy('still', { size: plain(2) });
    expect(await following.runsOf(reader)).toEqual([]);
  });

  test('gets one more run after the running one, even if its source changes several times meanwhile', async () => {
    const { reader } = await following.pair('busy');
    const busy = await stage.ask({ size: 7 }, { instance: 'of-busy', operation: 'plan' });
    await following.redeploy('busy', { size: plain(2) });
    const last = await following.redeploy('busy', { size: plain(3) });
    expect(await following.runsOf(reader)).toEqual([]);
    await stage.api.rows(`update runs set status = 'canceled', finished_at = now() where id = ?`, [busy.body.id]);
    await following.ended(busy.body.id);
    await following.ended(busy.body.id);
    expect(await following.runsOf(reader)).toMatchObject([{ source: last }]);
    const id = (await following.runsOf(reader))[0]?.id ?? '';
    // Nobody approved it. The same change is not followed again.
    await stage.api.rows(`update runs set status = 'canceled', finished_at = now() where id = ?`, [id]);
    await following.ended(id);
    expect(await following.runsOf(reader)).toHaveLength(1);
  });

  test('stops, with a reason, if instances follow each other in a cycle', async () => {
    const { source, reader } = await following.pair('circle');
    await stage.api.rows('update instances set outputs = ? where id = ?', ['{}', reader]);
    await stage.allow(reader, { environment_ids: [stage.shared] });
    const place = { environment_id: stage.shared, instance: 'circle' };
    const own = (await stage.api.rows('select slug from environments where id = ?', [stage.tenant.environment])) as [
      { slug: string },
    ];
    const again = await stage.ask({}, { instance: 'of-circle' });
    await stage.finish(again.body.id, { size: plain(1) });
    const back = await stage.ask({ size: of(own[0].slug, 'of-circle', 'size') }, place);
    expect(back.status, back.text).toBe(202);
    await stage.finish(back.body.id, { size: plain(1) });
    const forth = await stage.ask({ size: of('shared', 'circle', 'size') }, { instance: 'of-circle' });
    await stage.finish(forth.body.id, { size: plain(1) });
    expect((await following.follow(reader)).status).toBe(200);
    expect((await following.follow(source)).status).toBe(200);
    await following.redeploy('circle', { size: plain(2) }, { size: of(own[0].slug, 'of-circle', 'size') });
    const [first] = await following.runsOf(reader);
    await stage.finish(first?.id ?? '', { size: plain(2) });
    await following.ended(first?.id ?? '');
    expect(await following.runsOf(source)).toEqual([]);
    expect(await following.read(source)).toMatchObject({ enabled: true, stopped_because: 'loop' });
  });

  test('shows why it could not follow, and follows the next change', async () => {
    const { reader } = await following.pair('refused');
    await following.redeploy('refused', {});
    expect(await following.runsOf(reader)).toEqual([]);
    expect(await following.read(reader)).toMatchObject({ stopped_because: null, failure: { reason: 'refused' } });
    const cause = await following.redeploy('refused', { size: plain(5) });
    expect(await following.runsOf(reader)).toMatchObject([{ source: cause }]);
    expect((await following.read(reader)).failure).toBeNull();
  });

  test('stops once the user who made it follow no longer exists', async () => {
    const { reader } = await following.pair('left');
    await stage.api.rows(`update instance_follows set authority_id = gen_random_uuid() where instance_id = ?`, [
      reader,
    ]);
    expect((await following.read(reader)).stopped_because).toBe('authority_gone');
    await following.redeploy('left', { size: plain(2) });
    expect(await following.runsOf(reader)).toEqual([]);
    expect(await following.read(reader)).toMatchObject({ failure: { reason: 'authority_gone' } });
  });
});
