import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerWorker } from '#domain/workers/store.ts';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let admin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());

describe('a worker', () => {
  it.each([
    ['contains template code', 'sandbox', 'cgroup', null],
    ['does not', 'none', 'process', 'the kernel refuses user namespaces'],
  ] as const)(
    'a worker that %s shows its isolation when it is read and in the list',
    async (_, isolation, limits, isolationReason) => {
      const id = randomUUID();
      const facts = { host: 'here', processId: 1, version: '0', pools: ['seen'], tools: [], concurrency: 1 };
      await registerWorker(api.services.orm.em.fork(), { id, ...facts, isolation, limits, isolationReason });
      const shown = { id, isolation, limits, isolation_reason: isolationReason };
      expect((await admin.get(`/workers/${id}`)).body).toMatchObject(shown);
      const { workers } = (await admin.get('/workers?pool=seen')).body;
      expect(workers).toEqual(expect.arrayContaining([expect.objectContaining(shown)]));
    },
  );

  it('a worker of the previous release counts as one that does not contain template code', async () => {
    const id = randomUUID();
    await api.rows(
      `insert into workers (id, host, process_id, version, pools, tools, concurrency, started_at, heartbeat_at)
       values (?, 'old', 1, '0', '["old"]', '[]', 1, now(), now())`,
      [id],
    );
    const { body } = await admin.get(`/workers/${id}`);
    expect(body).toMatchObject({
      isolation: 'none',
      limits: 'process',
      isolation_reason: expect.stringMatching(/release/),
    });
    expect((await admin.get('/worker-pools/old')).body).toMatchObject({ workers: 1, contained_workers: 0 });
  });
});

describe('the isolation that an environment requires', () => {
  it('is none by default, and is shown', async () => {
    const { owner, environment } = await makeTenant(api);
    const path = `/environments/${environment}`;
    expect((await owner.get(path)).body).toMatchObject({ isolation: null });
    expect((await owner.patch(path, { isolation: 'sandbox' })).body).toMatchObject({
      isolation: 'sandbox',
      revision: 2,
    });
    expect((await owner.patch(path, { name: 'Kept' })).body).toMatchObject({ isolation: 'sandbox' });
    expect(await owner.patch(path, { isolation: 'none' })).toMatchObject({ status: 400 });
  });

  it('can be raised by an admin of its team, and lowered only by those above', async () => {
    const tenant = await makeTenant(api);
    const path = `/environments/${tenant.environment}`;
    const [teamAdmin, organizationAdmin] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    await join(tenant, teamAdmin, 'member', 'admin');
    await join(tenant, organizationAdmin, 'admin', 'admin');
    expect(await teamAdmin.patch(path, { isolation: 'sandbox' })).toMatchObject({ status: 200 });
    const refused = await teamAdmin.patch(path, { isolation: null, name: 'Other' });
    expect(refused).toMatchObject({ status: 403, body: { error: expect.stringContaining('isolation') } });
    expect((await teamAdmin.get(path)).body).toMatchObject({ isolation: 'sandbox', name: 'Development' });
    for (const above of [organizationAdmin, tenant.owner, admin]) {
      expect(await above.patch(path, { isolation: null })).toMatchObject({ status: 200, body: { isolation: null } });
      await above.patch(path, { isolation: 'sandbox' });
    }
  });
});
