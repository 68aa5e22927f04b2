import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { withKey } from '#test/support/access/tenant-levels.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const publishFor = (caller: ApiUser, team?: string) => publishTemplate(caller, sayHello, { team_id: team });

async function makePlace(): Promise<Tenant & { template: string }> {
  const tenant = await makeTenant(api);
  return { ...tenant, template: await publishFor(tenant.owner, tenant.team) };
}

const wanted = ({ environment, template }: { environment: string; template: string }, name = 'network') => ({
  environment_id: environment,
  template_id: template,
  name,
});

describe('creating an instance', () => {
  test('returns the empty instance with its address, and a run with its name uses it', async () => {
    const place = await makePlace();
    const answer = await place.owner.post('/instances', wanted(place));
    expect(answer.status, answer.text).toBe(201);
    expect(answer.headers['location']).toBe(`/api/v1/instances/${answer.body.id}`);
    expect(answer.body).toMatchObject({
      name: 'network',
      team_id: place.team,
      environment_id: place.environment,
      template_id: place.template,
      resource_count: 0,
      state_serial: 0,
      revision: 1,
    });
    expect((await place.owner.get(`/instances/${answer.body.id}`)).body).toEqual(answer.body);
    const run = await place.owner.post('/runs', {
      template_id: place.template,
      environment_id: place.environment,
      instance: 'network',
    });
    expect(run.body.instance_id).toBe(answer.body.id);
    const [{ instance_position: position } = {}] = await api.rows<{ instance_position: number }>(
      'select instance_position from runs where id = ?',
      [run.body.id],
    );
    expect(position).toBe(1);
  });

  test('creating an instance with a name that exists answers 409, even if a run created the instance', async () => {
    const place = await makePlace();
    await place.owner.make('/instances', wanted(place));
    const again = await place.owner.post('/instances', wanted(place));
    expectConflict(again, 'has an instance "network" already');
    expect(again.headers['x-error-code']).toBe('name_taken');
    await place.owner.post('/runs', { template_id: place.template, environment_id: place.environment, instance: 'b' });
    expect((await place.owner.post('/instances', wanted(place, 'b'))).status).toBe(409);
  });

  test('twice at the same time creates one', async () => {
    const place = await makePlace();
    const answers = await Promise.all([1, 2, 3].map(() => place.owner.post('/instances', wanted(place))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  test('an instance without an environment belongs to the team of its template, and for a template of the installation only administrators create it', async () => {
    const place = await makePlace();
    const own = await place.owner.post('/instances', { template_id: place.template, name: 'own' });
    expect(own.body).toMatchObject({ team_id: place.team, environment_id: null });
    const administrator = await api.addUser('admin');
    const shared = await publishFor(administrator);
    expect((await place.owner.post('/instances', { template_id: shared, name: 'x' })).status).toBe(403);
    expect((await administrator.post('/instances', { template_id: shared, name: 'x' })).status).toBe(201);
    expect((await place.owner.post('/instances', wanted({ ...place, template: shared }))).status).toBe(201);
  });

  test('requires the right to change the team, and hides the environment from strangers', async () => {
    const place = await makePlace();
    const [viewer, stranger, requester] = await Promise.all([
      api.addUser('maintainer'),
      api.addUser('maintainer'),
      api.addUser('requester'),
    ]);
    await join(place, viewer, 'member', 'viewer');
    await join(place, requester, 'member', 'admin');
    const statusFor = async (caller: ApiUser) => (await caller.post('/instances', wanted(place))).status;
    expect([await statusFor(viewer), await statusFor(stranger), await statusFor(requester)]).toEqual([403, 404, 403]);
  });

  test('creating an instance of a template that the environment cannot use, in something archived, or with a bad name is refused', async () => {
    const [place, other] = [await makePlace(), await makePlace()];
    const foreign = await place.owner.post('/instances', wanted({ ...place, template: other.template }));
    expect(foreign.status).toBe(404);
    expect((await place.owner.post('/instances', wanted(place, 'No Name'))).status).toBe(400);
    await place.owner.post(`/environments/${place.environment}/archive`);
    expectConflict(await place.owner.post('/instances', wanted(place)), 'the environment is archived');
  });
});

describe('deleting an instance', () => {
  test('deleting an instance without resources hides it, frees its name and keeps its runs', async () => {
    const place = await makePlace();
    const request = { template_id: place.template, environment_id: place.environment, instance: 'network' };
    const run = await place.owner.post('/runs', request);
    await place.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    const path = `/instances/${run.body.instance_id}`;
    expect((await place.owner.delete(path)).status).toBe(204);
    expect((await place.owner.get(path)).status).toBe(404);
    expect((await place.owner.delete(path)).status).toBe(404);
    const listed = await place.owner.get(`/instances?environment_id=${place.environment}`);
    expect(listed.body.instances).toEqual([]);
    expect((await place.owner.get(`/runs/${run.body.id}`)).body).toMatchObject({ instance: 'network' });
    expect((await place.owner.get(`/runs?instance_id=${run.body.instance_id}`)).body.runs).toHaveLength(1);
    const next = await place.owner.post('/instances', wanted(place));
    expect(next.status, next.text).toBe(201);
    expect(next.body.id).not.toBe(run.body.instance_id);
    const requeued = await place.owner.post(`/runs/${run.body.id}/requeue`);
    expect(requeued.body).toMatchObject({ instance_id: next.body.id });
  });

  test('is refused with the unfinished runs, the resources and the incomplete applies', async () => {
    const place = await makePlace();
    const request = { template_id: place.template, environment_id: place.environment, instance: 'network' };
    const run = await place.owner.post('/runs', request);
    const path = `/instances/${run.body.instance_id}`;
    const state = {
      version: 4,
      serial: 1,
      lineage: 'a',
      resources: [{ mode: 'managed', type: 't', name: 'n', instances: [{}] }],
    };
    expectConflict(await place.owner.delete(path), `runs that have not ended: ${run.body.id}; cancel them`);
    await place.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    await api.rows(
      `insert into run_attempts (id, run_id, phase, worker_id, outcome, log_base, line_base, started_at)
       values (gen_random_uuid(), ?, 'applying', gen_random_uuid(), 'lost', 0, 0, now())`,
      [run.body.id],
    );
    expect((await place.owner.post(`${path}/state`, state)).status).toBe(201);
    const refused = await place.owner.delete(path);
    expectConflict(refused, 'holds resources: t.n; destroy them first');
    expectConflict(
      refused,
      `apply may be incomplete, so that it may hold resources that nothing records: ${run.body.id}`,
    );
    expect(refused.headers['x-error-code']).toBe('in_use');
  });

  test('respects If-Match, and requires the right to change the team', async () => {
    const place = await makePlace();
    const { id } = await place.owner.make('/instances', wanted(place));
    const viewer = await api.addUser('maintainer');
    await join(place, viewer, 'member', 'viewer');
    const path = `/instances/${id}`;
    expect((await viewer.delete(path)).status).toBe(403);
    expect((await (await api.addUser('maintainer')).delete(path)).status).toBe(404);
    const stale = await place.owner.delete(path, { 'if-match': '"7"' });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect((await place.owner.delete(path, { 'if-match': '"1"' })).status).toBe(204);
  });

  test('is possible in an archived environment, and afterwards the environment can be deleted', async () => {
    const place = await makePlace();
    const { id } = await place.owner.make('/instances', wanted(place));
    await place.owner.post(`/environments/${place.environment}/archive`);
    expect((await place.owner.delete(`/instances/${id}`)).status).toBe(204);
    expect((await place.owner.delete(`/environments/${place.environment}`, withKey())).status).toBe(204);
  });
});
