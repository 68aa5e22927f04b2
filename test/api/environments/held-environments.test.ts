import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** An environment shows what blocks its applies now, in a read and in a list. */
let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;
let path: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());
beforeEach(async () => {
  tenant = await makeTenant(api);
  path = `/environments/${tenant.environment}`;
});

const readHold = async () => (await tenant.owner.get(path)).body.hold;
const until = '2099-01-01T00:00:00.000Z';
const window = {
  name: 'Year end',
  reason: 'books',
  starts_at: '2020-01-01T00:00:00.000Z',
  ends_at: until,
};

it('an environment shows its lock or no blocker, in a read and in a list', async () => {
  const readListed = async () => (await tenant.owner.get('/environments')).body.environments;
  expect(await readHold()).toBeNull();
  expect(await readListed()).toMatchObject([{ hold: null }]);
  await tenant.owner.put(`${path}/lock`, { reason: 'incident' });
  expect(await readListed()).toMatchObject([{ hold: { code: 'locked', reason: 'incident' } }]);
});

it('an environment with an open freeze window shows its name as blocker', async () => {
  await tenant.owner.put(`${path}/freeze-windows`, { freeze_windows: [window] });
  expect(await readHold()).toEqual({
    code: 'frozen',
    name: 'Year end',
    reason: 'books',
    by: null,
    since: window.starts_at,
    until,
  });
});

it('an environment shows a lock rather than a freeze window, and a pause of the installation rather than both', async () => {
  await tenant.owner.put(`${path}/freeze-windows`, { freeze_windows: [window] });
  await tenant.owner.put(`${path}/lock`, { reason: 'incident', until });
  const { body } = await tenant.owner.get(path);
  const { by, since } = body.lock;
  expect(body.hold).toEqual({ code: 'locked', name: null, reason: 'incident', by, since, until });
  await admin.put('/admin/apply-pause', { reason: 'maintenance' });
  const paused = { code: 'paused', name: null, reason: 'maintenance', until: null, by: { id: admin.id } };
  expect(await readHold()).toMatchObject(paused);
  const created = { project_id: tenant.project, name: 'New', kind: 'staging' };
  expect((await tenant.owner.make('/environments', created))['hold']).toMatchObject(paused);
  await admin.delete('/admin/apply-pause');
  expect(await readHold()).toMatchObject({ code: 'locked' });
});

it('an environment shows no expired lock', async () => {
  await tenant.owner.put(`${path}/lock`, { reason: 'incident', until: new Date(Date.now() + 500).toISOString() });
  expect(await readHold()).toMatchObject({ code: 'locked' });
  await expect.poll(readHold).toBeNull();
});
