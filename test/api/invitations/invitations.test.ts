import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

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

/** Sends an invitation; the path is the organization's or the team's. */
async function invite(path: string, body: object, by: ApiUser = tenant.owner) {
  const answer = await by.post(`${path}/invitations`, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body as { token: string; invitation: { id: string; status: string } };
}
const accept = (user: ApiUser, token: string) => user.post('/invitations/accept', { token });
const membersOf = async (path: string) => {
  const { body } = await tenant.owner.get(`${path}/members?limit=200`);
  return (body.members as { user_id: string; role: string }[]).map(({ user_id: id, role }) => ({ id, role }));
};
const statusOf = async (path: string, id: string, by = tenant.owner) =>
  (await by.get(`${path}/invitations/${id}`)).body.status;
const expectMissing = (answer: ApiAnswer) =>
  expect([answer.status, answer.body]).toEqual([404, { error: 'invitation was not found' }]);
const expectConflict = (answer: ApiAnswer, reason: string) => {
  expect(answer.status, answer.text).toBe(409);
  expect(answer.body.error).toContain(reason);
};

describe('an invitation', () => {
  test('makes its e-mail address a member, with the role that it says, and is over then', async () => {
    const person = await api.addUser('requester');
    const { token, invitation } = await invite(organizationPath, { email: person.email.toUpperCase(), role: 'admin' });
    expect(invitation).toMatchObject({
      ...{ organization_id: tenant.organization, team_id: null, role: 'admin', team_role: null, status: 'open' },
      ...{ invited_by: { id: tenant.owner.id }, accepted_at: null, revoked_at: null, revision: 1 },
    });
    const accepted = await accept(person, token);
    expect(accepted).toMatchObject({ status: 200, body: { status: 'accepted', accepted_by: person.id, revision: 2 } });
    expect(await membersOf(organizationPath)).toContainEqual({ id: person.id, role: 'admin' });
    expectConflict(await accept(person, token), 'you have accepted this invitation already');
  });

  test('shows its token once, and nowhere is it kept', async () => {
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

  test('leads into a team as well, and into the organization with it', async () => {
    const person = await api.addUser('requester');
    const offer = { email: person.email, team_id: tenant.team, team_role: 'admin' };
    const { token } = await invite(organizationPath, offer);
    expect((await accept(person, token)).status).toBe(200);
    expect(await membersOf(organizationPath)).toContainEqual({ id: person.id, role: 'member' });
    expect(await membersOf(tenant.teamPath)).toContainEqual({ id: person.id, role: 'admin' });
  });

  test('is to nobody but its address: everybody else is answered as for a token that there is not', async () => {
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

  test('is accepted once, however often it is accepted at the same time', async () => {
    const person = await api.addUser('requester');
    const { token } = await invite(organizationPath, { email: person.email });
    const second = await invite(tenant.teamPath, { email: person.email });
    const blocker = api.services.orm.em.fork();
    await blocker.begin();
    await blocker.execute('select 1 from organizations where id = ? for share', [tenant.organization]);
    const accepting = [token, token, second.token].map((each) => accept(person, each));
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => api.rows(waiting), { timeout: 10_000 }).toHaveLength(accepting.length);
    await blocker.commit();
    const statuses = (await Promise.all(accepting)).map(({ status }) => status);
    // The first one, and the other invitation for the team if the organization's came first.
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect([1, 2]).toContain(statuses.filter((status) => status === 200).length);
    const rows = await api.rows('select 1 from organization_members where principal_id = ? and organization_id = ?', [
      person.id,
      tenant.organization,
    ]);
    expect(rows).toHaveLength(1);
  });

  test('leaves a membership that there is already as it is', async () => {
    const person = await api.addUser('requester');
    const { token } = await invite(organizationPath, { email: person.email, role: 'admin' });
    await join(tenant, person, 'member');
    expectConflict(await accept(person, token), 'you are a member already');
    expect(await membersOf(organizationPath)).toContainEqual({ id: person.id, role: 'member' });
  });

  test('lasts seven days, or as long as it says, and then can be sent again', async () => {
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

  test('refuses a lifetime, a role and a team role that make no sense', async () => {
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

  test('is refused to a member, and to who is invited already', async () => {
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

  test('is revoked once, and opens nothing any more', async () => {
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

describe('who may invite', () => {
  test('into an organization: its admins, and none of them above their own role', async () => {
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

  test('into a team: its admins, but nobody into the organization on that way', async () => {
    const [admin, colleague] = [await api.addUser('maintainer'), await api.addUser('requester')];
    await join(tenant, admin, 'member', 'admin');
    await join(tenant, colleague, 'member');
    const path = `${tenant.teamPath}/invitations`;
    expectConflict(await admin.post(path, { email: freshEmail() }), 'nobody with this address is in the organization');
    expect((await admin.post(path, { email: colleague.email, role: 'owner' })).status).toBe(403);
    const { token, invitation } = await invite(tenant.teamPath, { email: colleague.email, role: 'viewer' }, admin);
    expect(invitation).toMatchObject({ role: null, team_role: 'viewer', team_id: tenant.team });
    expect((await accept(colleague, token)).status).toBe(200);
    expect(await membersOf(tenant.teamPath)).toContainEqual({ id: colleague.id, role: 'viewer' });
  });

  test('into a team, from an admin of the organization: anybody', async () => {
    const person = await api.addUser('requester');
    const { token } = await invite(tenant.teamPath, { email: person.email });
    expect((await accept(person, token)).status).toBe(200);
    expect(await membersOf(organizationPath)).toContainEqual({ id: person.id, role: 'member' });
  });

  test('and an invitation for members is none for who has left the organization meanwhile', async () => {
    const [admin, colleague] = [await api.addUser('maintainer'), await api.addUser('requester')];
    await join(tenant, admin, 'member', 'admin');
    await join(tenant, colleague, 'member');
    const { token } = await invite(tenant.teamPath, { email: colleague.email }, admin);
    await tenant.owner.delete(`${organizationPath}/members/${colleague.id}`);
    expectConflict(await accept(colleague, token), 'for members of the organization');
    expect(await membersOf(tenant.teamPath)).not.toContainEqual(expect.objectContaining({ id: colleague.id }));
  });

  test('and a team lists its own alone, by its own path alone', async () => {
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

describe('an invitation is void', () => {
  /** An invitation by an admin of an organization of its own, and who is invited. */
  async function sent() {
    const own = await makeTenant(api);
    const path = `/organizations/${own.organization}`;
    const [admin, person] = [await api.addUser('maintainer'), await api.addUser('requester')];
    await join(own, admin, 'admin');
    const { token, invitation } = await invite(path, { email: person.email, team_id: own.team }, admin);
    return { own, path, admin, person, token, id: invitation.id };
  }

  test.each<[string, (invited: Awaited<ReturnType<typeof sent>>) => Promise<unknown>, string]>([
    [
      'the inviter may no longer invite',
      ({ own, path, admin }) => own.owner.put(`${path}/members/${admin.id}`, { role: 'member' }),
      'void',
    ],
    ['the inviter has left', ({ own, path, admin }) => own.owner.delete(`${path}/members/${admin.id}`), 'revoked'],
    [
      'the inviter has left, even if they are back',
      async ({ own, path, admin }) => {
        await own.owner.delete(`${path}/members/${admin.id}`);
        await own.owner.put(`${path}/members/${admin.id}`, { role: 'owner' });
      },
      'revoked',
    ],
    [
      'the inviter was disabled, even if they are enabled again',
      async ({ admin }) => {
        const root = await api.addUser('admin');
        for (const enabled of [false, true]) await root.send('PUT', `/users/${admin.id}`, { enabled });
      },
      'void',
    ],
    [
      'the inviter is no maintainer any more',
      async ({ admin }) => (await api.addUser('admin')).send('PUT', `/users/${admin.id}`, { role: 'requester' }),
      'void',
    ],
    [
      'the organization was archived, even if it is active again',
      async ({ own, path }) => {
        await own.owner.post(`${path}/archive`);
        await own.owner.post(`${path}/unarchive`);
      },
      'void',
    ],
    ['the team is archived', ({ own }) => own.owner.post(`${own.teamPath}/archive`), 'void'],
  ])('once %s', async (_when, change, status) => {
    const invited = await sent();
    const { own, path, person, token, id } = invited;
    expect(await statusOf(path, id, own.owner)).toBe('open');
    await change(invited);
    expect(await statusOf(path, id, own.owner)).toBe(status);
    expect((await own.owner.get(`${path}/invitations`)).body.invitations).toMatchObject([{ id, status }]);
    expect((await accept(person, token)).status).toBe(409);
    const { body } = await own.owner.get(`${path}/members`);
    expect(JSON.stringify(body)).not.toContain(person.id);
  });

  test('once its team or its organization is deleted', async () => {
    const { own, path, person, token, id } = await sent();
    for (const each of [`/environments/${own.environment}`, `/projects/${own.project}`, own.teamPath])
      expect((await own.owner.delete(each, { 'idempotency-key': randomUUID() })).status).toBe(204);
    expect(await statusOf(path, id, own.owner)).toBe('revoked');
    const other = await invite(path, { email: person.email }, own.owner);
    expect((await own.owner.delete(path, { 'idempotency-key': randomUUID() })).status).toBe(204);
    for (const each of [token, other.token]) expectConflict(await accept(person, each), 'was revoked');
  });

  test('until somebody who may sends it again: it is theirs then', async () => {
    const { own, path, admin, person, id } = await sent();
    await own.owner.put(`${path}/members/${admin.id}`, { role: 'member' });
    await own.owner.post(`${own.teamPath}/archive`);
    expectConflict(
      await own.owner.post(`${path}/invitations/${id}/resend`),
      'team that the invitation leads into is archived',
    );
    await own.owner.post(`${own.teamPath}/unarchive`);
    const again = await own.owner.post(`${path}/invitations/${id}/resend`);
    expect(again.body.invitation).toMatchObject({ status: 'open', invited_by: { id: own.owner.id } });
    expect((await accept(person, again.body.token)).status).toBe(200);
  });

  test('also where the inviter loses their authority while it is being accepted', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { own, path, admin, person, token } = await sent();
      const leave = () => own.owner.delete(`${path}/members/${admin.id}`);
      const take = () => accept(person, token);
      const answers = await Promise.all(round % 2 ? [leave(), take()] : [take(), leave()]);
      const [accepted] = round % 2 ? [answers[1]] : answers;
      const isMember = JSON.stringify((await own.owner.get(`${path}/members`)).body).includes(person.id);
      expect([accepted?.status, isMember]).toEqual(isMember ? [200, true] : [409, false]);
    }
  });
});
