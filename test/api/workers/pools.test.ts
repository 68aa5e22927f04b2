import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { registerWorker } from '#domain/workers/store.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
});
afterAll(() => api?.close());

const internet = { policy: 'internet', allow: [] };
const create = (body: object = {}) => admin.post('/worker-pools', { name: `pool-${newId()}`, ...body });
const pathOf = async (body: object = {}) => `/worker-pools/${(await create(body)).body.name}`;

async function addWorker(pool: string): Promise<string> {
  const id = newId();
  const facts = { host: `host-of-${pool}`, processId: 1, version: '0', pools: [pool], tools: [], concurrency: 1 };
  const isolation = { isolation: 'sandbox', limits: 'cgroup', isolationReason: null } as const;
  await registerWorker(api.services.orm.em.fork(), { id, ...facts, ...isolation });
  return id;
}

describe('creating a pool', () => {
  it('answers 201 with the pool, its revision and its location', async () => {
    const { team, environment } = await makeTenant(api);
    const rules = { team_ids: [team], environment_ids: [environment], isolation: 'sandbox', egress: internet };
    const answer = await admin.post('/worker-pools', { name: 'reserved', ...rules });
    expect(answer).toMatchObject({
      status: 201,
      headers: { location: '/api/v1/worker-pools/reserved' },
      body: { name: 'reserved', ...rules, revision: 1, workers: 0, queued: 0, created_at: expect.any(String) },
    });
    expect((await admin.get('/worker-pools/reserved')).body).toEqual(answer.body);
  });

  it('creating a pool with only a name opens it to all, without requirements', async () => {
    const { body } = await create();
    expect(body).toMatchObject({ team_ids: null, environment_ids: null, isolation: null, egress: internet });
  });

  it('answers 409 if the name exists, and only one of 20 concurrent requests succeeds', async () => {
    const name = `pool-${newId()}`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => admin.post('/worker-pools', { name })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
    const late = await admin.post('/worker-pools', { name });
    expect(late).toMatchObject({ status: 409, body: { error: expect.stringContaining(`"${name}" exists already`) } });
  });

  it.each([
    [{ name: 'Upper' }, 'name'],
    [{ name: '' }, 'name'],
    [{ isolation: 'none' }, 'isolation'],
    [{ team_ids: ['x'] }, 'team_ids[0]'],
    [{ environment_ids: Array(2).fill(newId()) }, 'must not name an id twice'],
    [{ revision: 1 }, 'revision'],
  ])('answers 400 for %j', async (body, part) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { error: expect.stringContaining(part) } });
  });

  it('answers 422 and names the team or environment that is unknown or deleted', async () => {
    const { team, environment } = await makeTenant(api);
    const unknown = newId();
    const teams = await create({ team_ids: [team, unknown] });
    expect([teams.status, teams.body.error]).toEqual([422, `team_ids: there is no team ${unknown}`]);
    const environments = await create({ environment_ids: [unknown, environment] });
    expect(environments.status).toBe(422);
    expect(environments.body.error).toBe(`environment_ids: there is no environment ${unknown}`);
    await api.rows('update environments set deleted_at = now() where id = ?', [environment]);
    expect((await create({ environment_ids: [environment] })).status).toBe(422);
  });

  it('gives rules to a pool without any that a worker already serves', async () => {
    await addWorker('served');
    expect((await admin.get('/worker-pools/served')).body).toMatchObject({ revision: null, workers: 1 });
    const early = await admin.patch('/worker-pools/served', { isolation: 'sandbox' });
    expect(early).toMatchObject({ status: 409, body: { error: expect.stringContaining('create it first') } });
    expect(await admin.delete('/worker-pools/served')).toMatchObject({ status: 409 });
    const created = await create({ name: 'served', isolation: 'sandbox' });
    expect(created.body).toMatchObject({ revision: 1, workers: 1, isolation: 'sandbox' });
  });
});

describe('changing a pool', () => {
  it('keeps every field that the request omits', async () => {
    const { team, environment } = await makeTenant(api);
    const egress = { policy: 'allow', allow: ['a.org'] };
    const rules = { team_ids: [team], environment_ids: [environment], isolation: 'sandbox', egress };
    const path = await pathOf(rules);
    const changes = [{ team_ids: [] }, { environment_ids: [] }, { isolation: null }, { egress: internet }];
    let expected: object = rules;
    for (const [at, change] of changes.entries()) {
      expected = { ...expected, ...change, revision: at + 2 };
      expect(await admin.patch(path, change)).toMatchObject({ status: 200, body: expected });
    }
    expect((await admin.get(path)).body).toMatchObject(expected);
  });

  it('opens the pool to all by null, and changes nothing if the request is empty', async () => {
    const path = await pathOf({ team_ids: [], environment_ids: [] });
    const opened = await admin.patch(path, { team_ids: null });
    expect(opened.body).toMatchObject({ team_ids: null, environment_ids: [], revision: 2 });
    expect((await admin.patch(path, {})).body).toMatchObject({ team_ids: null, revision: 2 });
  });

  it('answers 409 for a stale revision, and only one of 20 concurrent requests succeeds', async () => {
    const path = await pathOf();
    const lists = Array.from({ length: 20 }, (_, at) => ({ policy: 'allow', allow: [`host-${at}.org`] }));
    const answers = await Promise.all(lists.map((egress) => admin.patch(path, { egress, expected_revision: 1 })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    const winner = answers.find(({ status }) => status === 200);
    expect((await admin.get(path)).body).toEqual(winner?.body);
    expect(winner?.body.revision).toBe(2);
    const stale = await admin.patch(path, { isolation: 'sandbox', expected_revision: 1 });
    expect(stale.body.error).toContain('expected_revision: 1 is stale, the current revision is 2');
  });

  it('accepts the revision in If-Match, as deleting does', async () => {
    const path = await pathOf();
    const change = (tag: string, body: object = {}) =>
      admin.send('PATCH', path, { isolation: 'sandbox', ...body }, { 'if-match': tag });
    expect(await change('"2"')).toMatchObject({ status: 409, body: { error: expect.stringContaining('2 is stale') } });
    for (const tag of ['1', '"x"', 'W/"1"', '"1", "2"', ''])
      expect(await change(tag)).toMatchObject({ status: 400, body: { error: expect.stringContaining('If-Match') } });
    expect(await change('"1"', { expected_revision: 2 })).toMatchObject({ status: 400 });
    expect(await change('"1"', { expected_revision: 1 })).toMatchObject({ status: 200, body: { revision: 2 } });
    expect((await change('*', { isolation: null })).body).toMatchObject({ isolation: null, revision: 3 });
    expect((await admin.delete(path, { 'if-match': '"2"' })).status).toBe(409);
    expect((await admin.delete(path, { 'if-match': '"3"' })).status).toBe(204);
  });

  it('a pool that is deleted and created again has a higher revision than before', async () => {
    await admin.make('/worker-pools', { name: 'again' });
    await admin.patch('/worker-pools/again', { isolation: 'sandbox' });
    expect((await admin.delete('/worker-pools/again')).status).toBe(204);
    expect((await admin.make('/worker-pools', { name: 'again' }))['revision']).toBeGreaterThan(2);
    expect((await admin.delete('/worker-pools/again', { 'if-match': '"2"' })).status).toBe(409);
  });

  it('refuses an unknown team, and keeps a listed team that was deleted', async () => {
    const { team } = await makeTenant(api);
    const path = await pathOf({ team_ids: [team] });
    const { revision } = (await admin.get(path)).body;
    await api.rows('update teams set deleted_at = now() where id = ?', [team]);
    expect(await admin.patch(path, { team_ids: [team, newId()] })).toMatchObject({ status: 422 });
    const other = await makeTenant(api);
    const kept = await admin.patch(path, { team_ids: [other.team, team] });
    expect(kept.body).toMatchObject({ team_ids: [other.team, team], revision: revision + 1 });
  });

  it('answers 404 for a pool that nobody created, serves or uses', async () => {
    for (const answer of [admin.patch('/worker-pools/nowhere', {}), admin.delete('/worker-pools/nowhere')])
      expect(await answer).toMatchObject({ status: 404, body: { error: 'worker pool was not found' } });
  });

  it('leaves an audit record of the changed fields, as creating and deleting do', async () => {
    const path = await pathOf({ name: 'audited', isolation: 'sandbox' });
    await admin.patch(path, { egress: { policy: 'none', allow: [] } });
    await admin.delete(path);
    const records = await api.rows(
      `select action, before, after from audit_records
        where resource_type = 'worker_pools' and resource_id = 'audited' order by at`,
    );
    const shares = { max_team_percent: 75, max_person_percent: 50 };
    const open = { team_ids: null, environment_ids: null, isolation: 'sandbox', ...shares };
    const none = { policy: 'none', allow: [] };
    expect(records).toEqual([
      { action: 'worker_pool.created', before: null, after: { ...open, egress: internet } },
      { action: 'worker_pool.updated', before: { egress: internet }, after: { egress: none } },
      { action: 'worker_pool.deleted', before: { ...open, egress: none }, after: null },
    ]);
  });
});

describe('deleting a pool', () => {
  it('answers 204, after which the pool is not found and its name is free', async () => {
    const path = await pathOf({ name: 'temporary' });
    expect((await admin.delete(path)).status).toBe(204);
    expect((await admin.get(path)).status).toBe(404);
    expect((await create({ name: 'temporary' })).status).toBe(201);
  });

  it('is refused for the default pool, which templates without a pool use', async () => {
    await create({ name: 'default' });
    const { revision } = (await admin.get('/worker-pools/default')).body;
    const refused = await admin.delete('/worker-pools/default');
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain('"default" cannot be deleted: templates that name no pool use it');
    expect((await admin.get('/worker-pools/default')).body).toMatchObject({ revision });
  });

  it('is refused while runs, template versions or workers need it, and names them all', async () => {
    const path = await pathOf({ name: 'needed' });
    const worker = await addWorker('needed');
    const template = await steps.publish({ pool: 'needed' });
    const { body: run } = await admin.post('/runs', { template_id: template });
    const { body: shown } = await admin.get(`/registry/templates/${template}`);
    const refused = await admin.delete(path);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain(`runs that have not ended: ${run.id}; cancel them`);
    expect(refused.body.error).toContain(`template versions that name it: ${shown.slug} 1.0.0; yank them`);
    expect(refused.body.error).toContain('live workers');
    expect(refused.body.error).toContain('host-of-needed');
    await api.rows(`update runs set status = 'canceled', finished_at = now(), waiting_on = null where id = ?`, [
      run.id,
    ]);
    await api.rows('delete from workers where id = ?', [worker]);
    const second = await admin.delete(path);
    expect(second.body.error).toBe(
      `the worker pool "needed" has template versions that name it: ${shown.slug} 1.0.0; yank them or archive their templates first`,
    );
    await admin.post(`/registry/templates/${template}/archive`);
    expect((await admin.delete(path)).status).toBe(204);
  });
});
