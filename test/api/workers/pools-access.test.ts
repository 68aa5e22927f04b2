import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { registerWorker } from '#domain/workers/store.ts';
import { addServiceAccount } from '#test/support/access/people.ts';
import { codeOf } from '#test/support/access/reviews.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { Caller } from '#test/support/api/caller.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let one: Tenant;
let two: Tenant;
/** A pool that lists teams and environments of both tenants. */
const shared = 'shared';
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  one = await makeTenant(api);
  two = await makeTenant(api);
  const everything = { team_ids: [two.team, one.team], environment_ids: [one.environment, two.environment] };
  await admin.make('/worker-pools', { name: shared, ...everything });
});
afterAll(() => api?.close());

const listed = async (user: ApiUser) =>
  (await user.get('/worker-pools?limit=200')).body.worker_pools.find(({ name }: { name: string }) => name === shared);

describe('the teams and environments of a pool', () => {
  it('are all shown to a platform administrator, in their order', async () => {
    const all = { team_ids: [two.team, one.team], environment_ids: [one.environment, two.environment] };
    expect((await admin.get(`/worker-pools/${shared}`)).body).toMatchObject(all);
    expect(await listed(admin)).toMatchObject(all);
  });

  it.each(['one', 'two'] as const)('are shown to a member of tenant %s without those of the other', async (which) => {
    const [own, other] = which === 'one' ? [one, two] : [two, one];
    const viewer = await api.addUser('maintainer');
    await join(own, viewer, 'member', 'viewer');
    for (const user of [viewer, own.owner]) {
      const alone = await user.get(`/worker-pools/${shared}`);
      expect(alone.body).toMatchObject({ team_ids: [own.team], environment_ids: [own.environment] });
      const { actions: _, ...inList } = alone.body;
      expect(await listed(user)).toEqual(inList);
      expect(alone.text).not.toContain(other.team);
      expect(alone.text).not.toContain(other.environment);
    }
  });

  it('are hidden from a caller without a team, who sees empty lists rather than null', async () => {
    const stranger = await api.addUser('operator');
    const closed = { team_ids: [], environment_ids: [] };
    expect((await stranger.get(`/worker-pools/${shared}`)).body).toMatchObject(closed);
    expect(await listed(stranger)).toMatchObject(closed);
    await admin.make('/worker-pools', { name: 'open' });
    const open = (await stranger.get('/worker-pools/open')).body;
    expect(open).toMatchObject({ team_ids: null, environment_ids: null });
  });
});

describe('a service account with the role admin', () => {
  const addAccount = async () => {
    const url = await api.app.listen({ port: 0 }).catch(() => api.app.listeningOrigin);
    const place = { url, orm: api.services.orm };
    const { key } = await addServiceAccount(place, 'admin', {}, { teamId: one.team });
    return new Caller(url, { 'x-api-key': key });
  };

  it('manages pools of teams that it may read, and gets the same answer for unreadable and unknown teams', async () => {
    const account = await addAccount();
    const name = `pool-${newId()}`;
    const created = await account.post('/worker-pools', { name, team_ids: [one.team] });
    expect(created).toMatchObject({ status: 201, body: { team_ids: [one.team] } });
    const missing = newId();
    const [hidden, unknown] = await Promise.all(
      [two.team, missing].map((id) => account.send('PATCH', `/worker-pools/${name}`, { team_ids: [id] })),
    );
    expect(hidden?.status).toBe(422);
    expect(hidden?.text.replace(two.team, missing)).toBe(unknown?.text);
  });

  it('may change all rules except a list that it can read only in part', async () => {
    const account = await addAccount();
    const refused = await account.send('PATCH', `/worker-pools/${shared}`, { team_ids: [one.team] });
    expect(refused).toMatchObject({ status: 403, body: { error: expect.stringContaining('team_ids') } });
    const changed = await account.send('PATCH', `/worker-pools/${shared}`, { isolation: 'sandbox' });
    expect(changed).toMatchObject({ status: 200, body: { team_ids: [one.team], isolation: 'sandbox' } });
    expect(await listed(admin)).toMatchObject({ team_ids: [two.team, one.team] });
  });

  it('cannot delete a pool that is used, and does not get the names of what uses it', async () => {
    const account = await addAccount();
    const name = `pool-${newId()}`;
    await admin.make('/worker-pools', { name });
    const template = await steps.publish({ pool: name });
    const { body } = await admin.get(`/registry/templates/${template}`);
    const refused = await account.send('DELETE', `/worker-pools/${name}`);
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining('template versions') } });
    expect(refused.text).not.toContain(body.slug);
  });
});

describe('what prevents the deletion of a pool', () => {
  it('is named to a service account as far as it may read it, and the others are counted', async () => {
    const url = await api.app.listen({ port: 0 }).catch(() => api.app.listeningOrigin);
    const { key } = await addServiceAccount({ url, orm: api.services.orm }, 'admin', {}, { teamId: one.team });
    const name = `pool-${newId()}`;
    await admin.make('/worker-pools', { name });
    const template = await steps.publish({ pool: name });
    const [mine, hidden] = await Promise.all(
      [one, two].map(({ environment }) => admin.post('/runs', { template_id: template, environment_id: environment })),
    );
    await registerWorker(api.services.orm.em.fork(), {
      ...{ id: newId(), host: 'host-of-pool', processId: 1, version: '0', pools: [name], tools: [], concurrency: 1 },
      ...{ isolation: 'none', limits: 'process', isolationReason: 'a test' },
    });
    const refused = await new Caller(url, { 'x-api-key': key }).send('DELETE', `/worker-pools/${name}`);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain(`not ended: ${mine?.body.id}, and 1 that you may not read; cancel them`);
    expect(refused.body.error).toContain('host-of-pool');
    expect(refused.text).not.toContain(hidden?.body.id);
  });
});

describe('who may manage pools', () => {
  it('managing pools without worker:manage answers 403, whether the pool exists or not', async () => {
    const operator = await api.addUser('operator');
    for (const name of [shared, 'nowhere']) {
      expect((await operator.patch(`/worker-pools/${name}`, {})).status).toBe(403);
      expect((await operator.delete(`/worker-pools/${name}`)).status).toBe(403);
    }
    expect((await operator.post('/worker-pools', { name: 'mine' })).status).toBe(403);
  });

  it('reading pools without worker:read answers 403, whether the pool exists or not', async () => {
    const requester = await api.addUser('requester');
    const [there, missing] = [
      await requester.get(`/worker-pools/${shared}`),
      await requester.get('/worker-pools/nowhere'),
    ];
    expect(there.status).toBe(403);
    expect(there.body).toEqual(missing.body);
    expect((await requester.get('/worker-pools')).status).toBe(403);
  });

  it('is decided by can-i in the same way', async () => {
    const operator = await api.addUser('operator');
    for (const verb of ['get', 'update', 'delete']) {
      expect(await codeOf(admin, verb, 'worker_pools', { name: shared })).toBe('allowed');
      expect(await codeOf(admin, verb, 'worker_pools', { name: 'nowhere' })).toBe('resource_not_found_or_denied');
    }
    expect(await codeOf(admin, 'create', 'worker_pools')).toBe('allowed');
    for (const verb of ['create', 'update', 'delete'])
      expect(await codeOf(operator, verb, 'worker_pools', verb === 'create' ? {} : { name: shared })).toBe(
        'permission_denied',
      );
    expect(await codeOf(operator, 'list', 'worker_pools')).toBe('allowed');
  });
});

describe('the list of pools', () => {
  it('is paged by name and has each pool once, including pools that nobody created', async () => {
    const names = ['paged-a', 'paged-b', 'paged-c'];
    for (const name of names.slice(1)) await admin.make('/worker-pools', { name });
    await steps.admit({}, { pool: 'paged-a' });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await admin.get(`/worker-pools?limit=1${cursor && `&cursor=${cursor}`}`);
      expect(body.worker_pools.length).toBeLessThanOrEqual(1);
      seen.push(...body.worker_pools.map(({ name }: { name: string }) => name));
      cursor = body.next_cursor;
    } while (cursor);
    expect(seen).toEqual([...new Set(seen)].sort());
    expect(seen.filter((name) => name.startsWith('paged-'))).toEqual(names);
    const whole = await admin.get('/worker-pools?limit=200');
    expect(whole.body).toMatchObject({ next_cursor: null });
    expect(whole.body.worker_pools.map(({ name }: { name: string }) => name)).toEqual(seen);
  });

  it.each(['limit=0', 'limit=201', 'cursor=x', `cursor=${newId()}`, 'cursor=', 'pool=x'])(
    'refuses ?%s',
    async (query) => {
      expect((await admin.get(`/worker-pools?${query}`)).status).toBe(400);
    },
  );
});
