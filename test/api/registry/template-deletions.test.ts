import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addServiceAccount, sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const publishFor = (caller: ApiUser, team?: string) =>
  publishTemplate(caller, sayHello, { name: 'Greeter', team_id: team });

async function makePlace(): Promise<Tenant & { template: string; path: string }> {
  const tenant = await makeTenant(api);
  const template = await publishFor(tenant.owner, tenant.team);
  return { ...tenant, template, path: `/registry/templates/${template}` };
}

const state = {
  version: 4,
  serial: 1,
  lineage: 'a',
  resources: [{ mode: 'managed', type: 't', name: 'n', instances: [{}] }],
};

/** An instance of a template, with a resource. */
async function deploy({ owner, environment }: Tenant, template: string, name: string): Promise<string> {
  const { id } = await owner.make('/instances', { environment_id: environment, template_id: template, name });
  await owner.make(`/instances/${id}/state`, state);
  return id;
}

describe('deleting a template', () => {
  test('deleting a template that was never run hides it and its versions, and frees its slug', async () => {
    const { owner, team, path, template } = await makePlace();
    expect((await owner.delete(path)).status).toBe(204);
    for (const gone of [path, `${path}/versions`, `${path}/versions/1.0.0`])
      expect((await owner.get(gone)).status).toBe(404);
    expect((await owner.delete(path)).status).toBe(404);
    expect((await owner.get(`/registry/templates?team_id=${team}`)).body.templates).toEqual([]);
    expect((await owner.post('/runs', { template_id: template })).status).toBe(404);
    expect(await publishFor(owner, team)).not.toBe(template);
  });

  test('deleting a template whose runs have ended keeps them readable, and nothing can be requeued', async () => {
    const { owner, path, template, environment } = await makePlace();
    const run = await owner.post('/runs', { template_id: template, environment_id: environment });
    expectConflict(
      await owner.delete(path),
      `runs that have not ended: ${run.body.id}; cancel them or let them end first`,
    );
    await owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    expect((await owner.delete(path)).status).toBe(204);
    expect((await owner.get(`/runs/${run.body.id}`)).body).toMatchObject({ template_id: template, status: 'canceled' });
    expect((await owner.post(`/runs/${run.body.id}/requeue`)).headers['x-error-code']).toBe('nothing_to_run_for');
  });

  test('is refused, with their names, while instances have resources, and an empty instance is kept', async () => {
    const place = await makePlace();
    const { owner, path, environment, team } = place;
    const id = await deploy(place, place.template, 'network');
    const refused = await owner.delete(path);
    expectConflict(refused, 'the template has instances that still hold resources: "network"; destroy them first');
    expect(refused.headers['x-error-code']).toBe('in_use');
    await api.rows('delete from instance_resources where instance_id = ?', [id]);
    await api.rows('update instances set resource_count = 0 where id = ?', [id]);
    expect((await owner.delete(path)).status).toBe(204);
    const next = await publishFor(owner, team);
    const run = await owner.post('/runs', { template_id: next, environment_id: environment, instance: 'network' });
    expect(run.body).toMatchObject({ instance_id: id, template_id: next });
  });

  test('leaves no instance into which a state can be imported', async () => {
    const place = await makePlace();
    const { owner, path, environment, template } = place;
    const { id } = await owner.make('/instances', { environment_id: environment, template_id: template, name: 'late' });
    expect((await owner.delete(path)).status).toBe(204);
    expectConflict(await owner.post(`/instances/${id}/state`, state), 'the template of the instance was deleted');
    expect((await owner.delete(`/instances/${id}`)).status).toBe(204);
  });

  test('requires the right to change its team, and respects If-Match', async () => {
    const place = await makePlace();
    const viewer = await api.addUser('maintainer');
    await join(place, viewer, 'member', 'viewer');
    expect((await viewer.delete(place.path)).status).toBe(403);
    expect((await (await api.addUser('maintainer')).delete(place.path)).status).toBe(404);
    const stale = await place.owner.delete(place.path, { 'if-match': '"9"' });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect((await place.owner.delete(place.path, { 'if-match': '"1"' })).status).toBe(204);
  });

  test('deleting a template while a run is admitted leaves no run of a deleted template', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { owner, path, template, environment } = await makePlace();
      const [deleted, admitted] = await Promise.all([
        owner.delete(path),
        owner.post('/runs', { template_id: template, environment_id: environment }),
      ]);
      expect([
        [204, 404],
        [409, 202],
      ]).toContainEqual([deleted.status, admitted.status]);
    }
  });
});

describe('deleting a template of the whole installation', () => {
  test('is allowed to administrators, who see everything that uses it', async () => {
    const [administrator, one, other] = [await api.addUser('admin'), await makeTenant(api), await makeTenant(api)];
    const template = await publishFor(administrator);
    const path = `/registry/templates/${template}`;
    await deploy(one, template, 'mine');
    await deploy(other, template, 'yours');
    expect((await one.owner.delete(path)).status).toBe(403);
    expectConflict(await administrator.delete(path), 'still hold resources: "mine", "yours"; destroy them first');
  });

  test('names to a service account with the role admin what it may read, and counts the others', async () => {
    const [administrator, one, other] = [await api.addUser('admin'), await makeTenant(api), await makeTenant(api)];
    const template = await administrator.make('/registry/templates', { name: 'Shared by two' });
    await administrator.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
    await deploy(one, template.id, 'mine');
    await deploy(other, template.id, 'yours');
    const place = { url: '', orm: api.services.orm };
    const { id, key } = await addServiceAccount(place, 'admin', { teams: { [one.team]: 'viewer' } });
    const account = new ApiUser(api, { 'x-api-key': key }, { id, email: '' });
    const refused = await account.delete(`/registry/templates/${template.id}`);
    expectConflict(refused, 'still hold resources: "mine", and 1 that you may not read; destroy them first');
    expect(refused.text).not.toContain('yours');
  });
});
