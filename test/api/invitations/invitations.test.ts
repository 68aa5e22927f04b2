import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accept, readMembers, readStatus, sendInvitation } from '#test/support/access/invitations.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { type ApiAnswer, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';

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
const expectMissing = (answer: ApiAnswer) =>
  expect([answer.status, answer.body]).toEqual([404, { error: 'invitation was not found' }]);

describe('an invitation', () => {
  test('makes the invited user a member with the offered role, and cannot be accepted again', async () => {
    const person = await api.addUser('requester');
    const { token, invitation } = await invite(organizationPath, { email: person.email.toUpperCase(), role: 'admin' });
    expect(invitation).toMatchObject({
      organization_id: tenant.organization,
      team_id: null,
      role: 'admin',
      team_role: null,
      status: 'open',
      invited_by: { id: tenant.owner.id },
      accepted_at: null,
      revoked_at: null,
      revision: 1,
    });
    const accepted = await accept(person, token);
    expect(accepted).toMatchObject({ status: 200, body: { status: 'accepted', accepted_by: person.id, revision: 2 } });
    expect(await membersOf(organizationPath)).toContainEqual({ id: person.id, role: 'admin' });
    expectConflict(await accept(person, token), 'you have accepted this invitation already');
    expectConflict(
      await tenant.owner.delete(`${organizationPath}/invitations/${invitation.id}`),
      'accepted already: remove the member instead',
    );
  });

  test('shows its token only once, and neither its row nor the audit contains it', async () => {
    const { token, invitation } = await invite(organizationPath, { email: freshEmail() });
    expect(token).toMatch(/^dci_[\w-]{43}$/);
    const shown = [
      await tenant.owner.get(`${organizationPath}/invitations/${invitation.id}`),
      await tenant.owner.get(`${organizationPath}/invitations`),
    ];
    for (const { text } of shown) expect(text).not.toMatch(/token|verifier|dci_/);
    const rows = await api.rows<{ row: string }>(
      'select i::text as row from invitations i where id = ? union all select a::text from audit_records a where resource_id = ?',
      [invitation.id, invitation.id],
    );
    expect(rows).toHaveLength(2);
    for (const { row } of rows) expect(row).not.toContain(token);
  });

  test('an invitation with a team makes the invited user a member of team and organization', async () => {
    const person = await api.addUser('requester');
    const offer = { email: person.email, team_id: tenant.team, team_role: 'admin' };
    const { token } = await invite(organizationPath, offer);
    expect((await accept(person, token)).status).toBe(200);
    expect(await membersOf(organizationPath)).toContainEqual({ id: person.id, role: 'member' });
    expect(await membersOf(tenant.teamPath)).toContainEqual({ id: person.id, role: 'admin' });
  });

  test('answers 404 to everybody but the invited address, as for an unknown token', async () => {
    const person = await api.addUser('requester');
    const { token } = await invite(organizationPath, { email: person.email });
    for (const other of [await api.addUser('requester'), await api.addUser('admin'), tenant.owner]) {
      expectMissing(await accept(other, token));
      expectMissing(await accept(other, `dci_${'x'.repeat(43)}`));
    }
    expect((await accept(api.nobody, token)).status).toBe(401);
    expect((await accept(person, token)).status).toBe(200);
    expectMissing(await accept(tenant.owner, token));
  });

  test('creates one membership if it is accepted several times at the same time', async () => {
    const person = await api.addUser('requester');
    const { token } = await invite(organizationPath, { email: person.email });
    const second = await invite(tenant.teamPath, { email: person.email });
    const blocker = api.services.orm.em.fork();
    await blocker.begin();
    await blocker.execute('select 1 from organizations where id = ? for share', [tenant.organization]);
    const accepting = [token, token, second.token].map((each) => accept(person, each));
    await awaitLockWaits(api.services.orm, accepting.length);
    await blocker.commit();
    const statuses = (await Promise.all(accepting)).map(({ status }) => status);
    // One acceptance succeeds; the team's succeeds as well if it comes after the organization's.
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect([1, 2]).toContain(statuses.filter((status) => status === 200).length);
    const rows = await api.rows('select 1 from organization_members where principal_id = ? and organization_id = ?', [
      person.id,
      tenant.organization,
    ]);
    expect(rows).toHaveLength(1);
  });

  test('does not change an existing membership', async () => {
    const person = await api.addUser('requester');
    const { token } = await invite(organizationPath, { email: person.email, role: 'admin' });
    await join(tenant, person, 'member');
    expectConflict(await accept(person, token), 'you are a member already');
    expect(await membersOf(organizationPath)).toContainEqual({ id: person.id, role: 'member' });
  });

  test('expires after seven days or its own lifetime, and can then be sent again', async () => {
    const person = await api.addUser('requester');
    const { token, invitation } = await invite(organizationPath, { email: person.email, expires_in: '2h' });
    const { created_at: from, expires_at: until } = (
      await tenant.owner.get(`${organizationPath}/invitations/${invitation.id}`)
    ).body;
    expect(Date.parse(until) - Date.parse(from)).toBe(2 * 3_600_000);
    const week = await invite(organizationPath, { email: freshEmail() });
    const [row] = await api.rows<{ days: number }>(
      'select extract(epoch from expires_at - sent_at)::int / 86400 as days from invitations where id = ?',
      [week.invitation.id],
    );
    expect(row?.days).toBe(7);
    await api.rows(
      `update invitations set sent_at = sent_at - interval '3 hours', expires_at = expires_at - interval '3 hours' where id = ?`,
      [invitation.id],
    );
    expect(await statusOf(organizationPath, invitation.id)).toBe('expired');
    expectConflict(await accept(person, token), 'has expired');
    const again = await tenant.owner.post(`${organizationPath}/invitations/${invitation.id}/resend`);
    expect(again).toMatchObject({ status: 200, body: { invitation: { status: 'open', revision: 2 } } });
    expectMissing(await accept(person, token));
    expect((await accept(person, again.body.token)).status).toBe(200);
  });

  test('an invitation with an invalid lifetime, role or team role answers 400', async () => {
    const bodies = [
      { email: 'nobody' },
      { email: freshEmail(), role: 'viewer' },
      { email: freshEmail(), team_role: 'viewer' },
      { email: freshEmail(), expires_in: '5m' },
      { email: freshEmail(), expires_in: 'P60D' },
      { email: freshEmail(), team: tenant.team },
    ];
    for (const body of bodies) {
      const answer = await tenant.owner.post(`${organizationPath}/invitations`, body);
      expect(answer.status, answer.text).toBe(400);
    }
    const elsewhere = await makeTenant(api);
    const foreign = { email: freshEmail(), team_id: elsewhere.team };
    expect((await tenant.owner.post(`${organizationPath}/invitations`, foreign)).status).toBe(404);
  });

  test('an invitation of a member or of an invited address answers 409', async () => {
    const member = await api.addUser('requester');
    await join(tenant, member, 'member');
    expectConflict(await tenant.owner.post(`${organizationPath}/invitations`, { email: member.email }), 'of a member');
    const email = freshEmail();
    await invite(organizationPath, { email });
    const again = { email: email.toUpperCase() };
    expectConflict(await tenant.owner.post(`${organizationPath}/invitations`, again), 'is invited already');
    const raced = { email: freshEmail() };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => tenant.owner.post(`${organizationPath}/invitations`, raced)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  test('an invitation that was revoked can be neither accepted, sent again nor revoked', async () => {
    const person = await api.addUser('requester');
    const { token, invitation } = await invite(organizationPath, { email: person.email });
    const path = `${organizationPath}/invitations/${invitation.id}`;
    expect((await tenant.owner.delete(path)).status).toBe(204);
    expect(await statusOf(organizationPath, invitation.id)).toBe('revoked');
    expectConflict(await accept(person, token), 'was revoked');
    expectConflict(await tenant.owner.delete(path), 'revoked already');
    expectConflict(await tenant.owner.post(`${path}/resend`), 'revoked already');
    expect((await invite(organizationPath, { email: person.email })).invitation.status).toBe('open');
  });
});
