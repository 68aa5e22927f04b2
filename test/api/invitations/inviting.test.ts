import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accept, readMembers, readStatus, sendInvitation } from '#test/support/access/invitations.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let organizationPath: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  organizationPath = `/organizations/${tenant.organization}`;
});
afterAll(() => api?.close());

const freshEmail = () => `${randomUUID()}@example.com`;
const invite = (path: string, body: object, by = tenant.owner) => sendInvitation(by, path, body);
const membersOf = (path: string) => readMembers(tenant.owner, path);
const statusOf = (path: string, id: string) => readStatus(tenant.owner, path, id);

describe('who may invite', () => {
  test('the admins of an organization invite into it, and can offer no role above their own', async () => {
    const [admin, member] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    await join(tenant, admin, 'admin');
    await join(tenant, member, 'member', 'owner');
    const offer = (role: string) => ({ email: freshEmail(), role });
    const path = `${organizationPath}/invitations`;
    expect((await admin.post(path, offer('admin'))).status).toBe(201);
    expect((await admin.post(path, offer('owner'))).status).toBe(403);
    expect((await admin.post(path, { ...offer('member'), team_id: tenant.team, team_role: 'owner' })).status).toBe(403);
    expect((await member.post(path, offer('member'))).status).toBe(403);
    const owners = await invite(organizationPath, offer('owner'));
    const theirs = `${path}/${owners.invitation.id}`;
    expect((await admin.post(`${theirs}/resend`)).status).toBe(403);
    expect((await admin.delete(theirs)).status).toBe(403);
    expect((await member.get(theirs)).status).toBe(403);
  });

  test('an invitation into a team by its admin reaches only members of the organization', async () => {
    const [admin, colleague] = [await api.addUser('maintainer'), await api.addUser('requester')];
    await join(tenant, admin, 'member', 'admin');
    await join(tenant, colleague, 'member');
    const path = `${tenant.teamPath}/invitations`;
    expectConflict(await admin.post(path, { email: freshEmail() }), 'no member of the organization has this address');
    expect((await admin.post(path, { email: colleague.email, role: 'owner' })).status).toBe(403);
    const { token, invitation } = await invite(tenant.teamPath, { email: colleague.email, role: 'viewer' }, admin);
    expect(invitation).toMatchObject({ role: null, team_role: 'viewer', team_id: tenant.team });
    expect((await accept(colleague, token)).status).toBe(200);
    expect(await membersOf(tenant.teamPath)).toContainEqual({ id: colleague.id, role: 'viewer' });
  });

  test('an invitation into a team by an admin of the organization makes a new user a member of both', async () => {
    const person = await api.addUser('requester');
    const { token } = await invite(tenant.teamPath, { email: person.email });
    expect((await accept(person, token)).status).toBe(200);
    expect(await membersOf(organizationPath)).toContainEqual({ id: person.id, role: 'member' });
  });

  test('accepting an invitation into a team answers 409 for a user who has left the organization meanwhile', async () => {
    const [admin, colleague] = [await api.addUser('maintainer'), await api.addUser('requester')];
    await join(tenant, admin, 'member', 'admin');
    await join(tenant, colleague, 'member');
    const { token } = await invite(tenant.teamPath, { email: colleague.email }, admin);
    await tenant.owner.delete(`${organizationPath}/members/${colleague.id}`);
    expectConflict(await accept(colleague, token), 'for members of the organization');
    expect(await membersOf(tenant.teamPath)).not.toContainEqual(expect.objectContaining({ id: colleague.id }));
  });

  test('an invitation into a team is shown only under its own team and organization', async () => {
    const other = await tenant.owner.make(`${organizationPath}/teams`, { name: `Team ${randomUUID()}` });
    const otherPath = `${organizationPath}/teams/${other.id}`;
    const { invitation } = await invite(otherPath, { email: freshEmail() });
    expect((await tenant.owner.get(`${otherPath}/invitations`)).body.invitations).toHaveLength(1);
    expect((await tenant.owner.get(`${tenant.teamPath}/invitations/${invitation.id}`)).status).toBe(404);
    expect(await statusOf(organizationPath, invitation.id)).toBe('open');
    const elsewhere = await makeTenant(api);
    const foreign = await elsewhere.owner.get(`/organizations/${elsewhere.organization}/invitations/${invitation.id}`);
    expect(foreign.status).toBe(404);
  });
});
