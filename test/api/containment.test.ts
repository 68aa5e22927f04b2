import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerWorker } from '#domain/workers/registration.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/in-process-api.ts';
import { join, makeTenant } from '#test/support/tenancy.ts';

let api: TestApi;
let admin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());

const put = (name: string, body: object) => admin.put(`/worker-pools/${name}`, body);
const internet = { policy: 'internet', allow: [] };

describe('a worker', () => {
  it.each([
    ['contains template code', 'sandbox', 'cgroup', null],
    ['does not', 'none', 'process', 'the kernel refuses user namespaces'],
  ] as const)('that %s shows so alone and in the list', async (_, isolation, limits, isolationReason) => {
    const id = randomUUID();
    const facts = { host: 'here', processId: 1, version: '0', pools: ['seen'], tools: [], concurrency: 1 };
    await registerWorker(api.services.orm.em.fork(), { id, ...facts, isolation, limits, isolationReason });
    const shown = { id, isolation, limits, isolation_reason: isolationReason };
    expect((await admin.get(`/workers/${id}`)).body).toMatchObject(shown);
    const { workers } = (await admin.get('/workers?pool=seen')).body;
    expect(workers).toEqual(expect.arrayContaining([expect.objectContaining(shown)]));
  });

  it('of the release before counts as one that does not contain template code', async () => {
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

describe('a pool', () => {
  it('demands nothing and reaches the Internet where nobody says otherwise', async () => {
    const { body } = await put('plain', {});
    expect(body).toMatchObject({ isolation: null, egress: internet, team_ids: null, environment_ids: null });
  });

  it('keeps its isolation and its egress where a request leaves them out, and gives them up by name', async () => {
    const egress = {
      policy: 'allow',
      allow: ['registry.opentofu.org', '*.example.org', '10.1.0.0/16', '2001:db8::/32'],
    };
    expect((await put('strict', { isolation: 'sandbox', egress })).body).toMatchObject({
      isolation: 'sandbox',
      egress,
    });
    expect((await put('strict', { team_ids: [] })).body).toMatchObject({ isolation: 'sandbox', egress, team_ids: [] });
    const given = await put('strict', { isolation: null, egress: { policy: 'internet' } });
    expect(given.body).toMatchObject({ isolation: null, egress: internet, team_ids: null });
  });

  it('leaves an audit record of what it demanded and reached before, and since', async () => {
    await put('audited', { isolation: 'sandbox' });
    await put('audited', { egress: { policy: 'none' } });
    const [record] = await api.rows<{ before: object; after: object }>(
      `select before, after from audit_records where action = 'worker_pool.updated' and resource_id = 'audited'
        order by at desc limit 1`,
    );
    expect(record?.before).toMatchObject({ isolation: 'sandbox', egress: internet });
    expect(record?.after).toMatchObject({ isolation: 'sandbox', egress: { policy: 'none', allow: [] } });
  });

  it('takes names in any case, and shows them in lower case', async () => {
    const { body } = await put('cased', { egress: { policy: 'allow', allow: ['Registry.OpenTofu.ORG'] } });
    expect(body.egress.allow).toEqual(['registry.opentofu.org']);
  });

  it.each([
    ['an address without a range', '10.1.2.3', 'CIDR range'],
    ['an address of version 6 without a range', '2001:db8::1', 'CIDR range'],
    ['a number that is an address to some', '0x7f.1', 'CIDR range'],
    ['a range with too many bits', '10.0.0.0/33', 'no CIDR range'],
    ['a range in a short form', '10.1/16', 'no CIDR range'],
    ['a range with a zone', 'fe80::%eth0/64', 'no CIDR range'],
    ['a range that begins in its middle', '10.1.2.3/16', '10.1.0.0/16'],
    ['a range of version 6 that carries one of version 4', '::ffff:10.0.0.0/104', 'IPv4'],
    ['a wildcard inside a name', 'a.*.example.org', 'at the front only'],
    ['a wildcard that is part of a label', '*example.org', 'at the front only'],
    ['a wildcard for everything', '*', 'at the front only'],
    ['a URL', 'https://example.org', 'no CIDR range'],
    ['a name with a port', 'example.org:443', 'no host name'],
    ['a name with a space', 'example org', 'no host name'],
    ['nothing', '', 'no host name'],
  ])('refuses %s in its list', async (_, entry, message) => {
    const { status, body } = await put('refused', { egress: { policy: 'allow', allow: [entry] } });
    expect(status).toBe(400);
    expect(body.error).toContain(message);
    expect(body.error).toContain('egress');
  });

  it.each([
    [
      'more than 200 entries',
      { policy: 'allow', allow: Array.from({ length: 201 }, (_, at) => `a${at}.org`) },
      'allow',
    ],
    ['a policy that is not known', { policy: 'some' }, 'policy'],
    ['a list beside the policy "none"', { policy: 'none', allow: ['a.org'] }, 'must be empty'],
    ['another member', { policy: 'none', deny: [] }, 'deny'],
  ])('refuses %s', async (_, egress, message) => {
    const { status, body } = await put('refused', { egress });
    expect([status, body.error]).toEqual([400, expect.stringContaining(message)]);
  });

  it('refuses to demand what no worker has', async () => {
    expect(await put('refused', { isolation: 'none' })).toMatchObject({ status: 400 });
  });

  it('shows its rules to nobody without worker:read, whether it is there or not', async () => {
    await put('secret', { isolation: 'sandbox', egress: { policy: 'allow', allow: ['internal.example.org'] } });
    const stranger = await api.addUser('requester');
    const [there, missing] = [await stranger.get('/worker-pools/secret'), await stranger.get('/worker-pools/nowhere')];
    expect(there.status).toBe(403);
    expect(there.body).toEqual(missing.body);
    expect(await stranger.put('/worker-pools/secret', {})).toMatchObject({ status: 403 });
    expect(await stranger.get('/worker-pools')).toMatchObject({ status: 403 });
  });
});

describe('what an environment demands', () => {
  it('is nothing unless it says so, and is shown', async () => {
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

  it('is strengthened by an admin of its team, and given up only by those above', async () => {
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
