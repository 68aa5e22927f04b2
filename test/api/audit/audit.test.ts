import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditCatalogue } from '#api/audit/catalogue.ts';
import { operations } from '#api/operations.ts';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let auditor: ApiUser;
let admin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  auditor = await api.addUser('admin');
  admin = await api.addUser('admin');
});
afterAll(async () => {
  await api?.close();
});

async function find(query: string) {
  const { status, text, body } = await auditor.get(`/audit?${query}`);
  expect(status, text).toBe(200);
  return body.audit_records;
}

describe('a record', () => {
  it('has actor, action, resource, credential, address, time, request and changes', async () => {
    const made = await admin.post('/organizations', { name: 'Acme' });
    const [record] = await find(`request_id=${made.headers['x-request-id']}`);
    expect(record).toMatchObject({
      action: 'organization.created',
      outcome: 'committed',
      actor: { type: 'user', id: admin.id },
      credential: { type: 'api_key', id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      resource: { type: 'organizations', id: made.body.id },
      organization_id: made.body.id,
      team_id: null,
      address: '127.0.0.1',
      before: null,
      after: { name: 'Acme', slug: 'acme', owner: admin.id },
    });
    expect(Date.now() - Date.parse(record.at)).toBeLessThan(10_000);
    expect((await auditor.get(`/audit/${record.id}`)).body).toEqual(record);
  });

  it('has times in RFC 3339, as the API does', async () => {
    const { id } = await admin.make('/organizations', { name: 'Timely' });
    const { body: organization } = await admin.post(`/organizations/${id}/archive`);
    await admin.post(`/organizations/${id}/unarchive`);
    const [unarchived, archived] = await find(`resource_id=${id}`);
    const archived_at = organization.archived_at;
    expect(archived_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(archived).toMatchObject({ before: { archived_at: null }, after: { archived_at } });
    expect(unarchived).toMatchObject({ before: { archived_at }, after: { archived_at: null } });
    const offer = { email: 'someone@example.com', role: 'member' };
    const { body } = await admin.post(`/organizations/${id}/invitations`, offer);
    const [invited] = await find(`resource_id=${body.invitation.id}`);
    expect(invited.after.expires_at).toBe(body.invitation.expires_at);
    const made = await admin.make('/profile/api-keys', { name: 'short', expires_at: '2126-01-01T00:00:00+02:00' });
    const [key] = await find(`resource_id=${(made['api_key'] as { id: string }).id}`);
    expect(key.after.expires_at).toBe('2125-12-31T22:00:00.000Z');
  });

  it('keeps a text that looks like a time in another field', async () => {
    const name = '2026-11-22 01:59:54.771+00';
    const { id } = await admin.make('/organizations', { name, slug: 'a-time' });
    expect((await find(`resource_id=${id}`))[0].after.name).toBe(name);
  });

  it('is found by every filter', async () => {
    const made = await admin.make('/organizations', { name: 'Find me' });
    const team = await admin.make(`/organizations/${made.id}/teams`, { name: 'Platform' });
    const [record] = await find(`resource_id=${team.id}`);
    const later = new Date(Date.parse(record.at) + 1).toISOString();
    const filters = {
      actor: admin.id,
      action: 'team.created',
      outcome: 'committed',
      resource_type: 'teams',
      resource_id: team.id,
      organization_id: made.id,
      team_id: team.id,
      request_id: record.request_id,
      from: record.at,
      to: later,
    };
    for (const [name, value] of Object.entries({ ...filters })) {
      expect(
        (await find(`${name}=${value}`)).map(({ id }: { id: string }) => id),
        name,
      ).toContain(record.id);
    }
    expect(await find(`${new URLSearchParams(filters as Record<string, string>)}`)).toEqual([record]);
    for (const [name, value] of Object.entries({ action: 'team.updated', outcome: 'refused', to: record.at })) {
      const others = await find(`${new URLSearchParams({ resource_id: String(team.id), [name]: value })}`);
      expect(others, name).toEqual([]);
    }
  });

  it('is found by its actor’s e-mail address in any spelling, and by a day', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const actor = encodeURIComponent(admin.email.toUpperCase());
    const records = await find(`actor=${actor}&from=${today}`);
    expect(records.length).toBeGreaterThan(0);
    expect(new Set(records.map((record: { actor: { id: string } }) => record.actor.id))).toEqual(new Set([admin.id]));
  });

  it('is found by its kind, which is a read or a change as in the catalogue', async () => {
    const { owner } = await makeTenant(api);
    const other = await makeTenant(api);
    expect((await owner.get(`/projects/${other.project}`)).status).toBe(404);
    expect((await owner.get('/audit/export')).status).toBe(200);
    const actionsOf = async (kind: string) =>
      (await find(`actor=${owner.id}&kind=${kind}`)).map(({ action }: { action: string }) => action);
    expect(await actionsOf('read')).toEqual(['audit_records.exported', 'projects.get']);
    const changes = await actionsOf('change');
    expect(changes).toContain('project.created');
    expect(changes).not.toContain('audit_records.exported');
    expect((await auditor.get('/audit?kind=reads')).status).toBe(400);
    const { body } = await auditor.get('/audit/actions');
    const reads = body.actions.filter(({ kind }: { kind: string }) => kind === 'read');
    const recorded = reads.filter(({ outcomes }: { outcomes: string[] }) => outcomes.includes('committed'));
    expect(recorded.map(({ action }: { action: string }) => action)).toEqual([
      'audit_records.exported',
      'audit_records.verified',
      'instance.state_downloaded',
      'instance.states_compared',
    ]);
  });

  it('reading an audit record that does not exist answers 404, and an invalid filter answers 400', async () => {
    const cursorAt = (time: string) => Buffer.from(`${time} ${newId()}`).toString('base64url');
    expect((await auditor.get(`/audit/${newId()}`)).status).toBe(404);
    for (const query of [
      'from=yesterday',
      'from=0000-01-01',
      'from=0001-01-01T00:00:00%2B23:59',
      'to=9999-12-31T23:59:59-23:59',
      `cursor=${cursorAt('0000-12-31T00:00:00.000Z')}`,
      `cursor=${cursorAt('2026-02-30T00:00:00.000Z')}`,
      'outcome=perhaps',
      'team_id=x',
      'colour=red',
      'cursor=x',
    ]) {
      expect((await auditor.get(`/audit?${query}`)).status, query).toBe(400);
    }
  });
});

describe('pages of the audit', () => {
  it('have every record once, newest first, even if many have the same time', async () => {
    await api.rows(
      `insert into audit_records (id, at, actor_type, actor_name, action, resource_type, outcome)
       select gen_random_uuid(), now() - (n / 40) * interval '40 days', 'system', 'test', 'test.paged', 'tests', 'committed'
         from generate_series(1, 130) n`,
    );
    const seen: { id: string; at: string }[] = [];
    let cursor = '';
    do {
      const { body } = await auditor.get(`/audit?action=test.paged&limit=17${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.audit_records);
      cursor = body.next_cursor ?? '';
    } while (cursor);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(130);
    const places = seen.map(({ at, id }) => `${at} ${id}`);
    expect(places).toEqual([...places].sort().reverse());
  });
});

describe('a filter', () => {
  it('a filter by an unknown action or resource type is refused, and the refusal names it', async () => {
    for (const [name, value] of [
      ['action', 'nope'],
      ['resource_type', 'nope'],
    ]) {
      const { status, body } = await auditor.get(`/audit?${name}=${value}`);
      expect([status, body.error], name).toEqual([400, expect.stringContaining(`query parameter "${name}"`)]);
    }
    expect((await auditor.get('/audit?resource_type=webhooks')).status).toBe(200);
  });

  it('a refused filter by a team names the action that the member needs in the team', async () => {
    const tenant = await makeTenant(api);
    const member = await api.addUser('maintainer');
    await join(tenant, member, 'member', 'member');
    const { status, body } = await member.get(`/audit?team_id=${tenant.team}`);
    expect([status, body.error]).toEqual([
      403,
      'permission denied: this needs team.membership.manage (the team role admin) in the team',
    ]);
  });
});

describe('the catalogue', () => {
  it('lists every action with its operation', async () => {
    const { body } = await auditor.get('/audit/actions');
    expect(body.actions).toEqual(JSON.parse(JSON.stringify(auditCatalogue(operations))));
    const entry = (operation: string) =>
      body.actions.find((each: { operation: string }) => each.operation === operation);
    expect(entry('runs.create')).toEqual({
      action: 'run.created',
      operation: 'runs.create',
      summary: 'Admit a run',
      kind: 'change',
      resource_type: 'runs',
      outcomes: ['committed', 'refused'],
    });
    expect(entry('users.list')).toMatchObject({ action: 'users.list', kind: 'read', outcomes: ['refused'] });
    expect(entry('system.version')).toBeUndefined();
    for (const { id } of operations.filter(({ kind }) => kind === 'command')) expect(entry(id), id).toBeDefined();
  });
});
