import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accept, readStatus, sendInvitation } from '#test/support/access/invitations.ts';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

describe('the validity of an invitation', () => {
  /** Makes an organization whose admin invites a person into its team. */
  async function sent() {
    const own = await makeTenant(api);
    const path = `/organizations/${own.organization}`;
    const [admin, person] = [await api.addUser('maintainer'), await api.addUser('requester')];
    await join(own, admin, 'admin');
    const { token, invitation } = await sendInvitation(admin, path, { email: person.email, team_id: own.team });
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
      'the inviter has left, even after joining again',
      async ({ own, path, admin }) => {
        await own.owner.delete(`${path}/members/${admin.id}`);
        await own.owner.put(`${path}/members/${admin.id}`, { role: 'owner' });
      },
      'revoked',
    ],
    [
      'the inviter was disabled, even after being enabled again',
      async ({ admin }) => {
        const root = await api.addUser('admin');
        for (const enabled of [false, true]) await root.send('PUT', `/users/${admin.id}`, { enabled });
      },
      'void',
    ],
    [
      'the inviter has lost the role of a maintainer',
      async ({ admin }) => (await api.addUser('admin')).send('PUT', `/users/${admin.id}`, { role: 'requester' }),
      'void',
    ],
    [
      'the organization was archived, even after being unarchived',
      async ({ own, path }) => {
        await own.owner.post(`${path}/archive`);
        await own.owner.post(`${path}/unarchive`);
      },
      'void',
    ],
    ['the team is archived', ({ own }) => own.owner.post(`${own.teamPath}/archive`), 'void'],
  ])('an invitation is void once %s', async (_when, change, status) => {
    const invited = await sent();
    const { own, path, person, token, id } = invited;
    expect(await readStatus(own.owner, path, id)).toBe('open');
    await change(invited);
    expect(await readStatus(own.owner, path, id)).toBe(status);
    expect((await own.owner.get(`${path}/invitations`)).body.invitations).toMatchObject([{ id, status }]);
    expect((await accept(person, token)).status).toBe(409);
    const { body } = await own.owner.get(`${path}/members`);
    expect(JSON.stringify(body)).not.toContain(person.id);
  });

  test('an invitation is void once its team or its organization is deleted', async () => {
    const { own, path, person, token, id } = await sent();
    for (const each of [`/environments/${own.environment}`, `/projects/${own.project}`, own.teamPath])
      expect((await own.owner.delete(each, { 'idempotency-key': randomUUID() })).status).toBe(204);
    expect(await readStatus(own.owner, path, id)).toBe('revoked');
    const other = await sendInvitation(own.owner, path, { email: person.email });
    expect((await own.owner.delete(path, { 'idempotency-key': randomUUID() })).status).toBe(204);
    for (const each of [token, other.token]) expectConflict(await accept(person, each), 'was revoked');
  });

  test('an invitation that is void is valid again once another user sends it again and becomes its inviter', async () => {
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

  test('an invitation whose inviter leaves during its acceptance is either accepted or answers 409', async () => {
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
