import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let owner: ApiUser;
let place: { environment_id: string; template_id: string };
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  owner = tenant.owner;
  const template = await owner.make('/registry/templates', { name: 'Net', team_id: tenant.team });
  await owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
  place = { environment_id: tenant.environment, template_id: template.id };
});
afterAll(() => api?.close());

const state = {
  version: 4,
  serial: 7,
  lineage: 'a',
  outputs: { token: { value: 'hunter2', type: 'string', sensitive: true } },
  resources: [{ mode: 'managed', type: 't', name: 'n', instances: [{ attributes: {} }] }],
};
let made = 0;
const makeInstance = async () =>
  (await owner.make('/instances', { ...place, name: `mistaken-${++made}` })).id as string;
const adopt = async (instance: string) => {
  const imported = await owner.post(`/instances/${instance}/state`, state);
  expect(imported.status, imported.text).toBe(201);
  return imported.body.serial as number;
};
const adopted = async () => {
  const instance = await makeInstance();
  await adopt(instance);
  return instance;
};
const forget = (instance: string, caller = owner, headers = {}) =>
  caller.delete(`/instances/${instance}/state`, headers);
const codeOf = ({ status, headers }: { status: number; headers: Record<string, unknown> }) => [
  status,
  headers['x-error-code'],
];

describe('an imported state that is forgotten', () => {
  test('leaves an instance without resources that can be deleted', async () => {
    const instance = await adopted();
    expect(await forget(instance)).toMatchObject({ status: 204 });
    expect((await owner.get(`/instances/${instance}`)).body).toMatchObject({ state_serial: 0, resource_count: 0 });
    expect((await owner.get(`/instances/${instance}/resources`)).body.resources).toEqual([]);
    expect((await owner.get(`/instances/${instance}/outputs`)).body.outputs).toEqual({});
    expect(await owner.delete(`/instances/${instance}`)).toMatchObject({ status: 204 });
  });

  test('stays in the history, and the next imported state has the next serial', async () => {
    const instance = await adopted();
    await forget(instance);
    expect((await owner.get(`/instances/${instance}/state-versions/1/download`)).body).toEqual(state);
    expect(await adopt(instance)).toBe(2);
    expect((await owner.get(`/instances/${instance}`)).body).toMatchObject({ state_serial: 2, resource_count: 1 });
    expect(await forget(instance)).toMatchObject({ status: 204 });
    expect(await adopt(instance)).toBe(3);
  });

  test('leaves an event and an audit record without secrets', async () => {
    const instance = await adopted();
    await forget(instance);
    const events = await api.rows(
      `select data from domain_events where subject_id = ? and type = 'instance.state_forgotten'`,
      [instance],
    );
    const records = await api.rows(
      `select before from audit_records where resource_id = ? and action = 'instance.state_forgotten'`,
      [instance],
    );
    expect([events.length, records]).toEqual([1, [{ before: { serial: 1, resource_count: 1 } }]]);
    expect(JSON.stringify([events, records])).not.toContain('hunter2');
  });
});

describe('the refusal to forget a state', () => {
  test('a state is not forgotten if the instance has none', async () => {
    expect(await forget(await makeInstance())).toMatchObject({ status: 404 });
  });

  test('a state is not forgotten while a run blocks the instance', async () => {
    const instance = await adopted();
    const { body } = await owner.post('/runs', { ...place, instance: `mistaken-${made}` });
    await api.rows('insert into instance_slots (instance_id, run_id, acquired_at) values (?, ?, now())', [
      instance,
      body.id,
    ]);
    expect(codeOf(await forget(instance))).toEqual([409, 'instance_busy']);
  });

  test.each([
    ['a run has applied to the instance', 'update instances set deployed_run_id = gen_random_uuid() where id = ?'],
    [
      'a run has written its last version',
      'update state_versions set run_id = gen_random_uuid() where instance_id = ?',
    ],
  ])('a state is not forgotten if %s', async (_what, statement) => {
    const instance = await adopted();
    await api.rows(statement, [instance]);
    const answer = await forget(instance);
    expect([...codeOf(answer), answer.body.error]).toEqual([
      409,
      'state_not_forgettable',
      expect.stringContaining('destroy'),
    ]);
    expect((await owner.get(`/instances/${instance}`)).body).toMatchObject({ state_serial: 1, resource_count: 1 });
  });

  test('a state is not forgotten for an old revision', async () => {
    const instance = await adopted();
    expect(codeOf(await forget(instance, owner, { 'if-match': '"1"' }))).toEqual([409, 'stale_revision']);
  });

  test('a state is not forgotten by members without the right to read secrets, or by other tenants', async () => {
    const instance = await adopted();
    const member = await api.addUser('maintainer');
    await join(tenant, member, 'member', 'member');
    expect((await forget(instance, member)).status).toBe(403);
    expect((await forget(instance, (await makeTenant(api)).owner)).status).toBe(404);
  });

  test('a state is not forgotten by another import or a deletion, whose errors say how to forget it', async () => {
    const instance = await adopted();
    const again = await owner.post(`/instances/${instance}/state`, state);
    expect([...codeOf(again), again.body.error]).toEqual([
      409,
      'state_exists',
      expect.stringContaining('can be forgotten'),
    ]);
    const deleted = await owner.delete(`/instances/${instance}`);
    expect([deleted.status, deleted.body.error]).toEqual([409, expect.stringContaining('forget the state')]);
  });
});
