import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from '#test/support/access/tenancy.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Following } from '#test/support/references/following.ts';
import { openReadingStage, plain, type ReadingStage, secret } from '#test/support/references/reading-stage.ts';

/** Instances that use outputs of others, and what may happen to these others. */

let stage: ReadingStage;
beforeAll(async () => {
  stage = await openReadingStage();
});
afterAll(() => stage?.api.close());

/** An instance and another one that uses its outputs. */
async function pair(name: string) {
  const source = await stage.deploy({ instance: name }, { size: plain(1), token: secret('hidden-of-the-source') });
  await stage.allow(source, { environment_ids: [stage.tenant.environment] });
  const of = (output: string) => `\${instances.shared/${name}.outputs.${output}}`;
  const { body } = await stage.ask({ size: of('size'), token: of('token') }, { instance: `of-${name}` });
  await stage.finish(body.id);
  return { source, reader: body.instance_id as string, run: body.id as string };
}

const dependencies = async (id: string) => (await stage.tenant.owner.get(`/instances/${id}/dependencies`)).body;
const upstream = async (id: string) =>
  (await dependencies(id)).reads.map((read: { upstream: string }) => read.upstream);

describe('an instance whose outputs other instances use', () => {
  test('names the dependents that the reader may read, and counts the others', async () => {
    const { source, reader, run } = await pair('named');
    expect(await dependencies(source)).toMatchObject({
      reads: [],
      dependents: [
        { id: reader, name: 'of-named', deployed_run_id: run, reads: [{ output: 'size' }, { output: 'token' }] },
      ],
      other_dependents: 0,
    });
    const other = await stage.tenant.owner.make(`/organizations/${stage.tenant.organization}/teams`, { name: 'Far' });
    await stage.api.rows('update instances set team_id = ? where id = ?', [other.id, reader]);
    const viewer = await stage.api.addUser('maintainer');
    await join(stage.tenant, viewer, 'member', 'admin');
    const { body } = await viewer.get(`/instances/${source}/dependencies`);
    expect(body).toMatchObject({ dependents: [], other_dependents: 1 });
    const refused = await viewer.delete(`/instances/${source}`);
    expect(refused.text).toContain('1 that you may not read');
    expect(refused.text).not.toContain('of-named');
  });

  test('is deleted or destroyed only with despite_dependents, and its dependents keep their values', async () => {
    const { owner } = stage.tenant;
    const { source, reader } = await pair('kept');
    const destroy = { environment_id: stage.shared, instance: 'kept', operation: 'destroy' };
    const refused = await stage.ask({}, destroy);
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'has_dependents']);
    expect(refused.text).toContain('Development/of-kept');
    const { body } = await stage.ask({}, { ...destroy, despite_dependents: true });
    const visitor = await signInVisitor(stage.api, owner);
    const page = (await visitor.get(`/workloads/runs/${body.id}`)).text;
    expect(page).toContain('Other instances use outputs that this run destroys');
    expect(page).toContain('of-kept');
    await stage.finish(body.id);
    await stage.api.rows('update instances set resource_count = 0 where id = ?', [source]);
    await stage.api.rows('delete from instance_resources where instance_id = ?', [source]);
    expect((await owner.delete(`/instances/${source}`)).headers['x-error-code']).toBe('has_dependents');
    const deleted = await owner.send('DELETE', `/instances/${source}`, { despite_dependents: true });
    expect(deleted.status, deleted.text).toBe(204);
    expect(await upstream(reader)).toEqual(['ended', 'ended']);
  });

  test('is not destroyed by a requeue of an earlier destroy, but by a copy with despite_dependents', async () => {
    const { owner } = stage.tenant;
    await stage.deploy({ instance: 'again' }, { size: plain(1), token: secret('hidden-of-the-source') });
    const destroy = { environment_id: stage.shared, instance: 'again', operation: 'destroy' };
    const { body: first } = await stage.ask({}, destroy);
    await stage.finish(first.id);
    await pair('again');
    const requeued = await owner.post(`/runs/${first.id}/requeue`);
    expect([requeued.status, requeued.headers['x-error-code']]).toEqual([409, 'has_dependents']);
    expect(requeued.text).toContain('Development/of-again');
    expect(requeued.text).toContain('copy the run with despite_dependents');
    const copied = await owner.post(`/runs/${first.id}/copy`, { despite_dependents: true });
    expect(copied.status, copied.text).toBe(202);
  });

  test('can be deleted once its dependents were deployed without it', async () => {
    const { source } = await pair('free');
    const again = await stage.ask({ size: 1 }, { instance: 'of-free' });
    await stage.finish(again.body.id);
    expect((await dependencies(source)).dependents).toEqual([]);
  });
});

describe('an instance that uses outputs of others', () => {
  test('shows which of the outputs changed, even secret ones, as its page does', async () => {
    const { source, reader } = await pair('changing');
    expect(await upstream(reader)).toEqual(['unchanged', 'unchanged']);
    await stage.deploy({ instance: 'changing' }, { size: plain(1), token: secret('another-hidden') });
    expect(await upstream(reader)).toEqual(['unchanged', 'changed']);
    const visitor = await signInVisitor(stage.api, stage.tenant.owner);
    expect((await visitor.get(`/workloads/instances/${reader}`)).text).toContain('Inputs changed since the deployment');
    const shared = await visitor.get(`/workloads/instances/${source}?tab=sharing`);
    expect(shared.text).toContain('of-changing');
    expect(shared.text).toContain('value="${instances.shared/changing.outputs.size}"');
    expect(shared.text).not.toContain('hidden-of-the-source');
    await stage.deploy({ instance: 'changing' }, { size: plain(1) });
    expect(await upstream(reader)).toEqual(['unchanged', 'missing']);
    await stage.allow(source, {});
    expect(await upstream(reader)).toEqual(['ended', 'ended']);
  });

  test('shows in lists and at its drift monitor that its inputs changed, without values, until it is deployed again', async () => {
    const { owner } = stage.tenant;
    const following = new Following(stage);
    const { source, reader, run } = await pair('listed');
    const monitor = await owner.make('/drift-monitors', { instance_id: reader, schedule: { every: '1h' } });
    const say = async () => {
      const { body } = await owner.get('/instances?inputs_changed=true');
      const one = (await owner.get(`/instances/${reader}`)).body.inputs_changed;
      const watched = (await owner.get(`/drift-monitors/${monitor.id}`)).body.inputs_changed;
      const others = (await owner.get('/instances?inputs_changed=false')).body.instances;
      expect(others.some(({ id }: { id: string }) => id === reader)).toBe(!one);
      return [one, watched, body.instances.some(({ id }: { id: string }) => id === reader)];
    };
    await following.ended(run);
    expect(await say()).toEqual([false, false, false]);
    await following.redeploy('listed', { size: plain(1), token: secret('another-hidden-one') });
    expect(await say()).toEqual([true, true, true]);
    const visitor = await signInVisitor(stage.api, owner);
    expect((await visitor.get('/workloads/instances')).text).toContain('Inputs changed');
    expect((await visitor.get(`/drift/monitors/${monitor.id}`)).text).toContain('Inputs changed since the deployment');
    const again = await stage.ask({ size: `\${instances.shared/listed.outputs.size}` }, { instance: 'of-listed' });
    await stage.finish(again.body.id);
    expect(await say()).toEqual([false, false, false]);
    await stage.allow(source, {});
    await following.happened('instance.readers_changed', source);
    expect(await say()).toEqual([true, true, true]);
  });
});
