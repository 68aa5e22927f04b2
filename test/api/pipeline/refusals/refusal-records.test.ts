import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { addServiceAccount } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The records of refusals that an auditor finds in the audit. */
let api: TestApi;
let tenant: Tenant;
let admin: ApiUser;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());
beforeEach(async () => {
  tenant = await makeTenant(api);
});

const organizationPath = () => `/organizations/${tenant.organization}`;

/** The records of refusals that a filter finds, newest first. */
async function findRefusals(filter: Record<string, string>) {
  const query = new URLSearchParams({ outcome: 'refused', ...filter });
  const { status, text, body } = await admin.get(`/audit?${query}`);
  expect(status, text).toBe(200);
  return body.audit_records;
}

describe('the resource in the record of a refusal', () => {
  let viewer: ApiUser;
  beforeEach(async () => {
    viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
  });
  const refuse = async (...[method, path, body]: Parameters<ApiUser['send']>) => {
    const { status, text } = await viewer.send(method, path, body);
    expect(status, text).toBe(403);
  };

  it('the record of a refusal names the team that the request named, so that a filter by its id finds it', async () => {
    await refuse('PATCH', tenant.teamPath, { name: 'Mine' });
    const [record] = await findRefusals({ resource_type: 'teams', resource_id: tenant.team });
    expect(record).toMatchObject({ organization_id: tenant.organization, team_id: tenant.team });
  });

  it('the record of a refusal names the member of an organization or a team that the request named', async () => {
    for (const path of [organizationPath(), tenant.teamPath]) await refuse('DELETE', `${path}/members/${admin.id}`);
    for (const type of ['organization_members', 'team_members'])
      expect(await findRefusals({ resource_type: type, resource_id: admin.id })).toHaveLength(1);
  });

  it('the record of a refusal names the key of a service account that the request named', async () => {
    const place = { url: '', orm: api.services.orm };
    const account = await addServiceAccount(place, 'requester', {}, { teamId: tenant.team });
    await refuse('DELETE', `/service-accounts/${account.id}/api-keys/${account.keyId}`);
    expect(await findRefusals({ resource_type: 'api_keys', resource_id: account.keyId })).toHaveLength(1);
  });

  it('the record of a refusal names an organization by its id, even if the path has a slug', async () => {
    const { body } = await tenant.owner.get(organizationPath());
    await refuse('PATCH', `/organizations/${body.slug}`, { name: 'Mine' });
    expect(await findRefusals({ resource_type: 'organizations', resource_id: tenant.organization })).toHaveLength(1);
  });

  it('the record of a refusal names the user whose password change failed', async () => {
    const user = await api.signIn(viewer);
    const wrong = {
      current_password: 'not this one',
      new_password: 'long enough 1',
      confirm_password: 'long enough 1',
    };
    expect((await user.post('/profile/password', wrong)).status).toBe(400);
    expect(await findRefusals({ resource_type: 'users', resource_id: viewer.id })).toHaveLength(1);
  });

  it('the record of a refusal names no resource if the path names only the parent of a new resource', async () => {
    await refuse('POST', `${organizationPath()}/teams`, { name: 'Mine' });
    await refuse('POST', `${tenant.teamPath}/invitations`, { email: 'a@example.com' });
    const records = await findRefusals({ actor: viewer.id });
    expect(records).toMatchObject([
      {
        resource: { type: 'invitations', id: null },
        organization_id: tenant.organization,
        team_id: tenant.team,
        after: { path_parameters: { orgID: tenant.organization, id: tenant.team } },
      },
      {
        resource: { type: 'teams', id: null },
        organization_id: tenant.organization,
        after: { path_parameters: { orgID: tenant.organization } },
      },
    ]);
  });
});

describe('the record of a refusal for a missing permission', () => {
  let requester: ApiUser;
  beforeEach(async () => {
    requester = await api.addUser('requester');
  });
  const owners = () => ({ organization_id: tenant.organization, team_id: tenant.team });

  it('has the owners of the target, so that a filter by its organization finds it', async () => {
    await join(tenant, requester, 'member', 'member');
    const template = await tenant.owner.make('/registry/templates', { name: 'Net', team_id: tenant.team });
    const refused: [Parameters<ApiUser['send']>[0], string, string, string][] = [
      ['PATCH', `/projects/${tenant.project}`, 'projects', tenant.project],
      ['DELETE', `/environments/${tenant.environment}`, 'environments', tenant.environment],
      ['POST', `/registry/templates/${template.id}/archive`, 'templates', template.id],
      ['POST', `${tenant.teamPath}/transfer`, 'teams', tenant.team],
      ['POST', `/projects/${tenant.project}/transfer`, 'projects', tenant.project],
    ];
    for (const [method, path, type, id] of refused) {
      expect((await requester.send(method, path, method === 'DELETE' ? undefined : {})).status).toBe(403);
      const [record] = await findRefusals({ organization_id: tenant.organization, actor: requester.id });
      expect(record).toMatchObject({ ...owners(), resource: { type, id } });
    }
  });

  it('has the id of an organization whose slug is in the path', async () => {
    const { body } = await tenant.owner.get(organizationPath());
    expect((await requester.patch(`/organizations/${body.slug}`, { name: 'Mine' })).status).toBe(403);
    const [record] = await findRefusals({ actor: requester.id });
    expect(record).toMatchObject({
      resource: { type: 'organizations', id: tenant.organization },
      organization_id: tenant.organization,
    });
  });

  it('has no owners if the target does not exist or the path is malformed', async () => {
    const missing = newId();
    for (const id of [missing, 'not%20an%20id'])
      expect((await requester.patch(`/projects/${id}`, { name: 'Mine' })).status).toBe(403);
    expect(await findRefusals({ actor: requester.id })).toMatchObject([
      { resource: { type: 'projects', id: null }, organization_id: null, team_id: null },
      { resource: { type: 'projects', id: missing }, organization_id: null, team_id: null },
    ]);
  });
});

describe('something that exists but is hidden from the caller answers 404 and leaves a record', () => {
  let elsewhere: Tenant;
  let caller: ApiUser;
  beforeEach(async () => {
    elsewhere = await makeTenant(api);
    caller = tenant.owner;
  });
  const refuse = async (...[method, path, body]: Parameters<ApiUser['send']>) => {
    const answer = await caller.send(method, path, body);
    expect(answer.status, answer.text).toBe(404);
    const [record, ...others] = await findRefusals({ request_id: String(answer.headers['x-request-id']) });
    expect(others).toEqual([]);
    return record;
  };
  const owners = () => ({ organization_id: tenant.organization, team_id: tenant.team });

  it('transferring a team to a hidden organization answers 404 and leaves a record', async () => {
    const record = await refuse('POST', `${tenant.teamPath}/transfer`, { organization_id: elsewhere.organization });
    expect(record).toMatchObject({ ...owners(), action: 'team.transferred', resource: { id: tenant.team } });
  });

  it('transferring a project to a hidden team answers 404 and leaves a record', async () => {
    const record = await refuse('POST', `/projects/${tenant.project}/transfer`, { team_id: elsewhere.team });
    expect(record).toMatchObject({ ...owners(), action: 'project.transferred', resource: { id: tenant.project } });
  });

  it('transferring a service account to a hidden team answers 404 and leaves a record, whether the team exists or not', async () => {
    const account = await caller.make('/service-accounts', {
      name: 'deploy',
      role: 'requester',
      owner: { team_id: tenant.team },
    });
    for (const team of [elsewhere.team, newId()]) {
      const record = await refuse('POST', `/service-accounts/${account.id}/transfer`, { owner: { team_id: team } });
      expect(record).toMatchObject({
        ...owners(),
        action: 'service_account.transferred',
        resource: { id: account.id },
      });
    }
  });

  it('inviting into an organization with a hidden team answers 404 and leaves a record', async () => {
    const offer = { email: 'a@example.com', team_id: elsewhere.team };
    const record = await refuse('POST', `${organizationPath()}/invitations`, offer);
    expect(record).toMatchObject({ action: 'invitation.created', organization_id: tenant.organization });
  });

  it('reading or ending the session of somebody else answers 404 and leaves a record', async () => {
    const other = await api.signIn(elsewhere.owner);
    const { id } = (await other.get('/auth/sessions/current')).body;
    caller = await api.signIn(tenant.owner);
    for (const method of ['GET', 'DELETE'] as const) {
      const record = await refuse(method, `/auth/sessions/${id}`);
      expect(record).toMatchObject({ actor: { id: caller.id }, resource: { type: 'sessions', id } });
    }
  });

  it('reading, rotating or revoking the API key of somebody else answers 404 and leaves a record', async () => {
    const made = await elsewhere.owner.make('/profile/api-keys', { name: 'theirs' });
    const { id } = made['api_key'] as { id: string };
    const path = `/profile/api-keys/${id}`;
    for (const record of [
      await refuse('GET', path),
      await refuse('POST', `${path}/rotate`, {}),
      await refuse('DELETE', path),
    ])
      expect(record).toMatchObject({ actor: { id: caller.id }, resource: { type: 'api_keys', id } });
  });

  it('reading or revoking the key of another service account answers 404 and leaves a record', async () => {
    const place = { url: '', orm: api.services.orm };
    const [own, other] = [
      await addServiceAccount(place, 'requester', {}, { teamId: tenant.team }),
      await addServiceAccount(place, 'requester', {}, { teamId: elsewhere.team }),
    ];
    for (const method of ['GET', 'DELETE'] as const) {
      const record = await refuse(method, `/service-accounts/${own.id}/api-keys/${other.keyId}`);
      expect(record).toMatchObject({ ...owners(), resource: { type: 'api_keys', id: other.keyId } });
    }
  });

  it('accepting an invitation to another address answers 404 and leaves a record, even with its token', async () => {
    const offer = { email: elsewhere.owner.email, role: 'viewer' };
    const { body } = await tenant.owner.post(`${tenant.teamPath}/invitations`, offer);
    caller = await api.addUser('requester');
    const record = await refuse('POST', '/invitations/accept', { token: body.token });
    expect(record).toMatchObject({ ...owners(), resource: { type: 'invitations', id: body.invitation.id } });
    expect((await elsewhere.owner.post('/invitations/accept', { token: body.token })).status).toBe(200);
  });
});
