import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { list as listOperation } from '#api/assemblies/operations.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  other = await makeTenant(api);
});
afterAll(() => api?.close());

const make = (more: object = {}) =>
  tenant.owner.post('/assemblies', { name: 'Landscape', team_id: tenant.team, ...more });

describe('an assembly', () => {
  it('is created with a slug of its name, read, changed, archived, unarchived and deleted', async () => {
    const created = await make({ name: 'Core Landschaft', description: 'All of it' });
    expect(created).toMatchObject({
      status: 201,
      body: { slug: 'core-landschaft', team_id: tenant.team, revision: 1, latest_version: null, archived_at: null },
    });
    const path = `/assemblies/${created.body.id}`;
    expect(created.headers['location']).toBe(`/api/v1${path}`);
    expect(created.headers['etag']).toBe('"1"');
    expect((await tenant.owner.get(path)).body).toEqual(created.body);

    const changed = await tenant.owner.patch(path, { name: 'Core', expected_revision: 1 });
    expect(changed).toMatchObject({ status: 200, body: { name: 'Core', description: 'All of it', revision: 2 } });
    expect((await tenant.owner.patch(path, { name: 'Core' })).body.revision).toBe(2);

    const archived = await tenant.owner.post(`${path}/archive`);
    expect(archived).toMatchObject({ status: 200, body: { revision: 3, archived_at: expect.any(String) } });
    expect((await tenant.owner.post(`${path}/archive`)).body).toEqual(archived.body);
    for (const answer of [
      await tenant.owner.patch(path, { name: 'New' }),
      await tenant.owner.put(`${path}/draft`, { spec: {} }),
      await tenant.owner.post(`${path}/publish`, { version: '1.0.0' }),
    ])
      expect(answer).toMatchObject({ status: 409, body: { error: 'the assembly is archived: unarchive it first' } });
    expect((await tenant.owner.post(`${path}/unarchive`)).body).toMatchObject({ archived_at: null, revision: 4 });

    expect((await tenant.owner.delete(path)).status).toBe(204);
    expect((await tenant.owner.get(path)).status).toBe(404);
    expect((await make({ slug: 'core-landschaft' })).status).toBe(201);
  });

  it('refuses a change, an archiving and a deletion for another revision than the current one', async () => {
    const path = await addAssembly(tenant);
    await tenant.owner.patch(path, { description: 'Second' });
    const stale = { 'if-match': '"1"' };
    const answers = [
      await tenant.owner.patch(path, { name: 'x', expected_revision: 1 }),
      await tenant.owner.send('PATCH', path, { name: 'x' }, stale),
      await tenant.owner.post(`${path}/archive`, undefined, stale),
      await tenant.owner.post(`${path}/unarchive`, undefined, stale),
      await tenant.owner.delete(path, stale),
    ];
    for (const { status, headers } of answers)
      expect([status, headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect((await tenant.owner.delete(path, { 'if-match': '"2"' })).status).toBe(204);
  });

  it('has a slug that is unique in its team: of 50 concurrent requests one gets it', async () => {
    const slug = 'race';
    const answers = await sendAtOnce(50, () => make({ slug }));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(49);
    expect((await other.owner.post('/assemblies', { name: 'Race', slug, team_id: other.team })).status).toBe(201);
  });

  it('lists the actions that its reader may take, with a reason for each other', async () => {
    const path = await addAssembly(tenant);
    const allowedTo = async (user: ApiUser) => {
      const { body } = await user.get(path);
      return Object.fromEntries(
        body.actions.map(({ name, reason }: { name: string; reason: string | null }) => [name, reason]),
      );
    };
    expect(await allowedTo(tenant.owner)).toEqual({
      save_draft: null,
      publish: expect.stringContaining('has no draft'),
      run: expect.stringContaining('has no published version'),
      update: null,
      archive: null,
      unarchive: null,
      delete: null,
    });
    const requester = await api.addUser('requester');
    await join(tenant, requester, 'member', 'member');
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    expect((await allowedTo(requester))['update']).toBe(
      'permission denied: this needs assembly:write (the platform role maintainer)',
    );
    expect((await allowedTo(viewer))['update']).toMatch(
      /team.metadata.write \(the team role admin\) in the team that owns the assembly/,
    );
    await tenant.owner.post(`${path}/archive`);
    expect((await allowedTo(tenant.owner))['update']).toBe('the assembly is archived: unarchive it first');
  });

  it('leaves audit records of what was changed, before and after', async () => {
    const { body } = await make({ name: 'Audited' });
    await tenant.owner.patch(`/assemblies/${body.id}`, { name: 'Renamed' });
    await tenant.owner.put(`/assemblies/${body.id}/draft`, { spec: { nodes: {} } });
    await tenant.owner.delete(`/assemblies/${body.id}`);
    const records = await api.rows<{ action: string; before: object; after: object; team_id: string }>(
      'select action, before, after, team_id from audit_records where resource_id = ? order by at, id',
      [body.id],
    );
    expect(records.map(({ action }) => action)).toEqual([
      'assembly.created',
      'assembly.updated',
      'assembly.draft_saved',
      'assembly.deleted',
    ]);
    expect(records[1]).toMatchObject({ before: { name: 'Audited' }, after: { name: 'Renamed' }, team_id: tenant.team });
    expect(records[2]).toMatchObject({ before: { draft_revision: 0 }, after: { draft_revision: 1 } });
  });

  it('a team cannot be deleted while it has an active assembly, and is deleted with its archived assemblies', async () => {
    const own = await makeTenant(api);
    const path = await addAssembly(own);
    const remove = (at: string) => own.owner.delete(at, { 'idempotency-key': randomUUID() });
    await remove(`/environments/${own.environment}`);
    await remove(`/projects/${own.project}`);
    expect(await remove(own.teamPath)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('has assemblies that are not archived: assembly-') },
    });
    await own.owner.post(`${path}/archive`);
    const deleted = await remove(own.teamPath);
    expect(deleted.status, deleted.text).toBe(204);
    const id = path.split('/').at(-1);
    const rows = await api.rows<{ deleted_at: unknown }>('select deleted_at from assemblies where id = ?', [id]);
    expect(rows).toEqual([{ deleted_at: expect.anything() }]);
  });
});

describe('the list of assemblies', () => {
  it('has the assemblies that the caller may read, in pages and filtered', async () => {
    const own = await makeTenant(api);
    const paths: string[] = [];
    for (let count = 0; count < 3; count += 1) paths.push(await addAssembly(own));
    const newest = paths.map((path) => path.split('/').at(-1)).reverse();
    const list = async (query: string, user = own.owner) => {
      const { status, body, text } = await user.get(`/assemblies?${query}`);
      expect(status, text).toBe(200);
      return { ids: body.assemblies.map(({ id }: { id: string }) => id), cursor: body.next_cursor };
    };
    const filter = `team_id=${own.team}`;
    expect((await list(filter)).ids).toEqual(newest);
    expect((await list(`organization_id=${own.organization}`)).ids).toEqual(newest);
    expect((await list('')).ids).toEqual(newest);
    const first = await list(`${filter}&limit=2`);
    expect(first.ids).toEqual(newest.slice(0, 2));
    expect(await list(`${filter}&limit=2&cursor=${first.cursor}`)).toEqual({ ids: newest.slice(2), cursor: null });
    await own.owner.post(`${paths[0]}/archive`);
    expect((await list(filter)).ids).toEqual(newest.slice(0, 2));
    expect((await list(`${filter}&archived=true`)).ids).toEqual(newest.slice(2));
    await own.owner.patch(paths[1]!, { description: 'The Needle of the haystack' });
    expect((await list(`${filter}&q=needle`)).ids).toEqual([newest[1]]);
    expect((await list(`${filter}&q=${encodeURIComponent("x%' or 1=1")}`)).ids).toEqual([]);
    expect((await list('', other.owner)).ids).not.toContain(newest[0]);
    expect((await other.owner.get(`/assemblies?${filter}`)).status).toBe(404);
  });

  it('shows the highest release of each assembly, or its highest pre-release', async () => {
    const own = await makeTenant(api);
    const { id: template } = await addTemplate(own.owner, { team: own.team });
    const released = ['1.9.0', '1.10.0', '1.2.0', '2.0.0-rc.1'];
    const unreleased = ['1.0.0-rc.9', '1.0.0-rc.10', '1.0.0-beta'];
    for (const versions of [released, unreleased]) {
      const path = await addAssembly(own, { nodes: { a: { template } } });
      for (const version of versions) expect((await own.owner.post(`${path}/publish`, { version })).status).toBe(201);
    }
    const { body } = await own.owner.get(`/assemblies?team_id=${own.team}`);
    const latest = body.assemblies.map((assembly: { latest_version: string }) => assembly.latest_version);
    expect(latest).toEqual(['1.0.0-rc.10', '1.10.0']);
  });

  it('a list of assemblies with a search text counts as a costly read', () => {
    expect(listOperation.isCostly?.({ q: 'needle' })).toBe(true);
    expect(listOperation.isCostly?.({})).toBe(false);
  });
});
