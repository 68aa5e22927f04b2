import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { followRun } from '#domain/following/follow-run.ts';
import type { MaskedOutputs } from '#domain/runs/model.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, plain, type ReadingStage, secret } from '#test/support/references/reading-stage.ts';

/** Instances that follow the outputs that they were deployed with. */

let stage: ReadingStage;
beforeAll(async () => {
  stage = await openReadingStage();
});
afterAll(() => stage?.api.close());

/** Delivers the end of a run, as the outbox does. */
const ended = (runId: string) => {
  const { services } = stage.api;
  return followRun({ ...services, bindingKey: services.installation.bindingKey }, runId);
};
const of = (environment: string, instance: string, output: string) =>
  `\${instances.${environment}/${instance}.outputs.${output}}`;
const runsOf = async (instance: string) =>
  stage.api.rows(
    `select id, status, started_by_run_id as source, requested_by_id as requester, message from runs where instance_id = ? and started_by_run_id is not null order by id`,
    [instance],
  ) as Promise<{ id: string; status: string; source: string; requester: string; message: string }[]>;
const follow = (instance: string, enabled = true) =>
  stage.tenant.owner.put(`/instances/${instance}/follow`, { enabled });
const following = async (instance: string) => (await stage.tenant.owner.get(`/instances/${instance}/follow`)).body;

/** Deploys an instance again with these outputs, and delivers its end; answers the run. */
async function redeploy(instance: string, outputs: MaskedOutputs): Promise<string> {
  const { body } = await stage.ask({}, { environment_id: stage.shared, instance });
  await stage.finish(body.id, outputs);
  await ended(body.id);
  return body.id;
}

/** An instance, and another one that was deployed with its outputs and follows them. */
async function pair(name: string, variables = { size: of('shared', name, 'size') } as object) {
  const source = await stage.deploy({ instance: name }, { size: plain(1), token: secret('hidden-1') });
  await stage.allow(source, { environment_ids: [stage.tenant.environment] });
  const { status, body, text } = await stage.ask(variables, { instance: `of-${name}` });
  expect(status, text).toBe(202);
  await stage.finish(body.id);
  await ended(body.id);
  const saved = await follow(body.instance_id);
  expect(saved.status, saved.text).toBe(200);
  return { source, reader: body.instance_id as string, run: body.id as string };
}

describe('an instance that follows', () => {
  test('gets one run after an apply that changed what it read, which reads anew and says why it exists', async () => {
    const { reader } = await pair('followed', {
      size: of('shared', 'followed', 'size'),
      net: { kept: '$${instances.a/b.outputs.c}', token: of('shared', 'followed', 'token') },
    });
    const cause = await redeploy('followed', { size: plain(2), token: secret('hidden-2') });
    await ended(cause);
    const runs = await runsOf(reader);
    expect(runs).toMatchObject([{ source: cause, status: 'queued', requester: stage.tenant.owner.id }]);
    const id = runs[0]?.id ?? '';
    const { body } = await stage.tenant.owner.get(`/runs/${id}`);
    expect(body).toMatchObject({ operation: 'apply', started_by_run_id: cause, requeued_from: null });
    expect(body.variables.size).toBe(2);
    expect(body.reads.map((read: { copied: boolean }) => read.copied)).toEqual([false, false]);
    const { inputs } = await stage.claimPlan(id);
    expect(inputs.variables['net']).toEqual({ kept: '${instances.a/b.outputs.c}', token: 'hidden-2' });
    const visitor = await signInVisitor(stage.api, stage.tenant.owner);
    expect((await visitor.get(`/workloads/runs/${id}`)).text).toContain('outputs that it reads changed in');
    expect((await visitor.get(`/workloads/runs/${cause}?tab=details`)).text).toContain('of-followed');
    const events = await stage.api.rows(
      `select data from domain_events where type = 'instance.follow_started' and subject_id = ?`,
      [reader],
    );
    expect(events).toMatchObject([{ data: { run_id: id, started_by_run_id: cause } }]);
  });

  test('gets none while the outputs stay what they are, or once it follows no longer', async () => {
    const { reader } = await pair('still');
    await redeploy('still', { size: plain(1), token: secret('another') });
    expect(await runsOf(reader)).toEqual([]);
    expect((await follow(reader, false)).status).toBe(200);
    await redeploy('still', { size: plain(2) });
    expect(await runsOf(reader)).toEqual([]);
  });

  test('gets one follow-up after the run that is under way, however often its source changes meanwhile', async () => {
    const { reader } = await pair('busy');
    const busy = await stage.ask({ size: 7 }, { instance: 'of-busy', operation: 'plan' });
    await redeploy('busy', { size: plain(2) });
    const last = await redeploy('busy', { size: plain(3) });
    expect(await runsOf(reader)).toEqual([]);
    await stage.api.rows(`update runs set status = 'canceled', finished_at = now() where id = ?`, [busy.body.id]);
    await ended(busy.body.id);
    await ended(busy.body.id);
    expect(await runsOf(reader)).toMatchObject([{ source: last }]);
    const id = (await runsOf(reader))[0]?.id ?? '';
    // Nobody approved it. The same change is not followed again.
    await stage.api.rows(`update runs set status = 'canceled', finished_at = now() where id = ?`, [id]);
    await ended(id);
    expect(await runsOf(reader)).toHaveLength(1);
  });

  test('stops in a circle, and says so', async () => {
    const { source, reader } = await pair('circle');
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
    expect((await follow(reader)).status).toBe(200);
    expect((await follow(source)).status).toBe(200);
    await redeployWith({ size: of(own[0].slug, 'of-circle', 'size') }, { size: plain(2) });
    const [first] = await runsOf(reader);
    await stage.finish(first?.id ?? '', { size: plain(2) });
    await ended(first?.id ?? '');
    expect(await runsOf(source)).toEqual([]);
    expect(await following(source)).toMatchObject({ enabled: true, stopped_because: 'loop' });

    async function redeployWith(variables: object, outputs: MaskedOutputs) {
      const { body } = await stage.ask(variables, place);
      await stage.finish(body.id, outputs);
      await ended(body.id);
    }
  });

  test('says why it could not follow, and follows the next change', async () => {
    const { reader } = await pair('refused');
    await redeploy('refused', {});
    expect(await runsOf(reader)).toEqual([]);
    expect(await following(reader)).toMatchObject({ stopped_because: null, failure: { reason: 'refused' } });
    const cause = await redeploy('refused', { size: plain(5) });
    expect(await runsOf(reader)).toMatchObject([{ source: cause }]);
    expect((await following(reader)).failure).toBeNull();
  });

  test('stops with whoever let it follow', async () => {
    const { reader } = await pair('left');
    await stage.api.rows(`update instance_follows set authority_id = gen_random_uuid() where instance_id = ?`, [
      reader,
    ]);
    expect((await following(reader)).stopped_because).toBe('authority_gone');
    await redeploy('left', { size: plain(2) });
    expect(await runsOf(reader)).toEqual([]);
    expect(await following(reader)).toMatchObject({ failure: { reason: 'authority_gone' } });
  });
});
