import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reviewOf } from '#test/support/access/reviews.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
let path: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const { id } = await addTemplate(tenant.owner, { team: tenant.team });
  path = await addAssembly(tenant, { nodes: { a: { template: id } } });
  expect((await tenant.owner.post(`${path}/publish`, { version: '1.0.0' })).status).toBe(201);
});
afterAll(() => api?.close());

type Send = (user: ApiUser, path: string) => ReturnType<ApiUser['get']>;

const reading: [name: string, send: Send][] = [
  ['reading it', (user, at) => user.get(at)],
  ['listing its versions', (user, at) => user.get(`${at}/versions`)],
  ['reading a version', (user, at) => user.get(`${at}/versions/1.0.0`)],
  ['comparing two versions', (user, at) => user.get(`${at}/diff?from=1.0.0&to=latest`)],
];
const changing: [name: string, send: Send][] = [
  ['changing it', (user, at) => user.patch(at, { description: 'x' })],
  ['reading its draft', (user, at) => user.get(`${at}/draft`)],
  ['saving its draft', (user, at) => user.put(`${at}/draft`, { spec: {}, expected_revision: 7 })],
  ['validating its draft', (user, at) => user.post(`${at}/validate`, {})],
  ['comparing with its draft', (user, at) => user.get(`${at}/diff?from=1.0.0&to=draft`)],
  ['comparing its draft with a version', (user, at) => user.get(`${at}/diff?from=draft&to=1.0.0`)],
  ['publishing it', (user, at) => user.post(`${at}/publish`, { version: '1.0.0', expected_revision: 7 })],
  ['archiving it', (user, at) => user.post(`${at}/archive`)],
  ['unarchiving it', (user, at) => user.post(`${at}/unarchive`)],
  ['deleting it', (user, at) => user.delete(at)],
];

describe.each([...reading, ...changing])('%s', (_name, send) => {
  it('answers the same 404 for an assembly that is missing or belongs to another team', async () => {
    const stranger = (await makeTenant(api)).owner;
    const missing = await send(tenant.owner, `/assemblies/${randomUUID()}`);
    expect(missing).toMatchObject({ status: 404, body: { error: 'assembly was not found' } });
    expect(await send(stranger, path)).toMatchObject({ status: 404, body: missing.body });
  });
});

describe.each(changing)('%s', (_name, send) => {
  it('answers 404 to a member of the team whose role lacks the permission, and 403 to a viewer who has it', async () => {
    const requester = await api.addUser('requester');
    await join(tenant, requester, 'member', 'member');
    expect(await send(requester, path)).toMatchObject({ status: 404, body: { error: 'assembly was not found' } });
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    expect(await send(viewer, path)).toMatchObject({
      status: 403,
      body: {
        error:
          'permission denied: this needs team.metadata.write (the team role admin) in the team that owns the assembly',
      },
    });
  });
});

describe.each(reading)('%s', (_name, send) => {
  it('answers 200 to every member of the team', async () => {
    const viewer = await api.addUser('requester');
    await join(tenant, viewer, 'member', 'viewer');
    expect((await send(viewer, path)).status).toBe(200);
  });
});

describe('creating an assembly', () => {
  it('answers 403 to a caller without the permission, because it names no assembly', async () => {
    const requester = await api.addUser('requester');
    await join(tenant, requester, 'member', 'member');
    expect(await requester.post('/assemblies', { name: 'x', team_id: tenant.team })).toMatchObject({
      status: 403,
      body: { error: 'permission denied: this needs assembly:write (the platform role maintainer)' },
    });
  });
});

describe('an access review of assemblies', () => {
  const ask = async (user: ApiUser, verb: string, name?: string) => {
    const question = { resource: 'assemblies', verb, team_id: tenant.team, ...(name && { name }) };
    const { body, text } = await user.post('/auth/can-i', reviewOf(question));
    expect(body?.status, text).toBeDefined();
    return body.status.reason.code;
  };

  it('answers not found for a named assembly if the permission is missing', async () => {
    const requester = await api.addUser('requester');
    await join(tenant, requester, 'member', 'admin');
    const id = path.split('/').at(-1);
    expect(await ask(requester, 'get', id)).toBe('allowed');
    expect(await ask(requester, 'list')).toBe('allowed');
    for (const verb of ['update', 'delete'])
      expect(await ask(requester, verb, id)).toBe('resource_not_found_or_denied');
    expect(await ask(requester, 'create')).toBe('permission_denied');
    expect(await ask(tenant.owner, 'delete', id)).toBe('allowed');
    expect(await ask(tenant.owner, 'get', randomUUID())).toBe('resource_not_found_or_denied');
  });
});
