import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';

describe('an organization', () => {
  test('is created with a slug derived from its name, and its creator owns it', async () => {
    const ana = await api.addUser('maintainer');
    const answer = await ana.post('/organizations', { name: '  Ünder Construction! ' });
    expect(answer.status).toBe(201);
    expect(answer.headers['location']).toBe(`/api/v1/organizations/${answer.body.id}`);
    expect(answer.body).toMatchObject({ name: 'Ünder Construction!', slug: 'under-construction', revision: 1 });
    expect(answer.body.archived_at).toBeNull();
    const members = await ana.get(`/organizations/${answer.body.id}/members`);
    expect(members.body.members).toMatchObject([{ user_id: ana.id, role: 'owner', email: ana.email }]);
  });

  test('creating an organization without a slug answers 400 if none can be derived from its name', async () => {
    const ana = await api.addUser('maintainer');
    const answer = await ana.post('/organizations', { name: '日本' });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('slug') } });
  });

  test('cannot be created by a requester', async () => {
    const ric = await api.addUser('requester');
    expect(await ric.post('/organizations', { name: 'Mine' })).toMatchObject({ status: 403 });
  });

  test('keeps its earlier slugs, which lead to it and cannot be used by others', async () => {
    const [ana, bo] = await Promise.all([api.addUser('maintainer'), api.addUser('maintainer')]);
    const { id } = await ana.make('/organizations', { name: 'Acme', slug: 'acme' });
    const renamed = await ana.patch(`/organizations/${id}`, { slug: 'apex', expected_revision: 1 });
    expect(renamed).toMatchObject({ status: 200, body: { slug: 'apex', name: 'Acme', revision: 2 } });
    for (const name of ['acme', 'apex', id]) expect((await ana.get(`/organizations/${name}`)).body.id).toBe(id);
    const taken = await bo.post('/organizations', { name: 'Acme' });
    expect(taken).toMatchObject({ status: 409, body: { error: expect.stringContaining('"acme"') } });
    expect((await ana.patch('/organizations/acme', { slug: 'acme' })).body).toMatchObject({
      slug: 'acme',
      revision: 3,
    });
  });

  test('is found by its id rather than by a slug that looks like an id, even if access is denied', async () => {
    const [ana, bo] = await Promise.all([api.addUser('maintainer'), api.addUser('maintainer')]);
    const first = await ana.make('/organizations', { name: 'First' });
    const second = await bo.make('/organizations', { name: 'Second', slug: first.id });
    expect((await ana.get(`/organizations/${first.id}`)).body.id).toBe(first.id);
    expect((await bo.get(`/organizations/${first.id}`)).status).toBe(404);
    const lookalike = await bo.make('/organizations', { name: 'Third', slug: missing });
    expect((await bo.get(`/organizations/${missing}`)).body.id).toBe(lookalike.id);
    expect((await bo.get(`/organizations/${second.id}`)).body.slug).toBe(first.id);
  });

  test('cannot get the slug of another one that is created at the same time, and one request answers 409', async () => {
    const [ana, bo] = await Promise.all([api.addUser('maintainer'), api.addUser('maintainer')]);
    const answers = await Promise.all(
      [ana, bo].map((user) => user.post('/organizations', { name: 'Race', slug: 'race' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await api.rows(`select id from organizations where slug = 'race'`)).toHaveLength(1);
  });

  test('refuses an update with a stale revision, and counts only real changes', async () => {
    const ana = await api.addUser('maintainer');
    const { id } = await ana.make('/organizations', { name: 'Counted' });
    expect((await ana.patch(`/organizations/${id}`, { name: 'Counted' })).body.revision).toBe(1);
    expect((await ana.patch(`/organizations/${id}`, { name: 'Recounted', expected_revision: 1 })).body.revision).toBe(
      2,
    );
    const stale = await ana.patch(`/organizations/${id}`, { name: 'Lost', expected_revision: 1 });
    expect(stale).toMatchObject({ status: 409, body: { error: expect.stringContaining('expected_revision') } });
    const races = await Promise.all(
      ['A', 'B', 'C'].map((name) => ana.patch(`/organizations/${id}`, { name, expected_revision: 2 })),
    );
    expect(races.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x', slug: 'Not A Slug' }, 'slug'],
    [{ name: 'x', owner: 'me' }, 'owner'],
    [{ name: 'nul \u0000' }, 'name'],
  ])('that is created with %j answers 400', async (body, field) => {
    const ana = await api.addUser('maintainer');
    const answer = await ana.post('/organizations', body);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } });
  });
});

describe('a user outside an organization', () => {
  test('gets the same answers for it and its teams as for missing ones', async () => {
    const tenant = await makeTenant(api);
    const stranger = await api.addUser('operator');
    const requests: ((organization: string, team: string) => Promise<{ status: number; body: unknown }>)[] = [
      (organization) => stranger.get(`/organizations/${organization}`),
      (organization) => stranger.patch(`/organizations/${organization}`, { name: 'Mine' }),
      (organization) => stranger.post(`/organizations/${organization}/archive`),
      (organization) => stranger.get(`/organizations/${organization}/members`),
      (organization) => stranger.put(`/organizations/${organization}/members/${stranger.id}`, { role: 'owner' }),
      (organization) => stranger.delete(`/organizations/${organization}/members/${tenant.owner.id}`),
      (organization) => stranger.get(`/organizations/${organization}/teams`),
      (organization) => stranger.post(`/organizations/${organization}/teams`, { name: 'Mine' }),
      (organization, team) => stranger.get(`/organizations/${organization}/teams/${team}`),
      (organization, team) => stranger.patch(`/organizations/${organization}/teams/${team}`, { name: 'Mine' }),
      (organization, team) => stranger.get(`/organizations/${organization}/teams/${team}/members`),
      (organization, team) =>
        stranger.put(`/organizations/${organization}/teams/${team}/members/${stranger.id}`, { role: 'owner' }),
    ];
    for (const request of requests) {
      const [hidden, absent] = await Promise.all([
        request(tenant.organization, tenant.team),
        request(missing, missing),
      ]);
      expect(hidden.status).toBe(404);
      expect(hidden.body).toEqual(absent.body);
    }
    expect((await stranger.get('/organizations')).body.organizations).toEqual([]);
  });

  test('cannot read its team under an organization of their own', async () => {
    const [mine, theirs] = await Promise.all([makeTenant(api), makeTenant(api)]);
    const path = `/organizations/${mine.organization}/teams/${theirs.team}`;
    expect((await mine.owner.get(path)).status).toBe(404);
    expect((await mine.owner.put(`${path}/members/${mine.owner.id}`, { role: 'owner' })).status).toBe(404);
    const admin = await api.addUser('admin');
    expect((await admin.get(path)).status).toBe(404);
  });
});

describe('a list of organizations', () => {
  test('has only what the caller may read, page by page', async () => {
    const ana = await api.addUser('maintainer');
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1)
      made.unshift((await ana.make('/organizations', { name: `Page ${index}`, slug: `page-${index}` })).id);
    await makeTenant(api);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await ana.get(`/organizations?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(body.organizations.length).toBeLessThanOrEqual(2);
      seen.push(...body.organizations.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor ?? '';
    } while (cursor);
    expect(seen).toEqual(made);
    expect((await ana.get('/organizations?cursor=nonsense')).status).toBe(400);
    expect((await ana.get('/organizations?colour=red')).status).toBe(400);
  });

  test("a list of teams has a member's own teams, and all of them for owners and platform administrators", async () => {
    const tenant = await makeTenant(api);
    const [member, admin] = await Promise.all([api.addUser('requester'), api.addUser('admin')]);
    await join(tenant, member, 'member');
    const path = `/organizations/${tenant.organization}/teams`;
    expect((await member.get(path)).body.teams).toEqual([]);
    expect((await member.get(tenant.teamPath)).status).toBe(404);
    await join(tenant, member, 'member', 'viewer');
    for (const user of [member, tenant.owner, admin]) {
      expect((await user.get(path)).body.teams).toMatchObject([
        { id: tenant.team, organization_id: tenant.organization },
      ]);
    }
  });
});
