import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const organizationOf = (tenant: Tenant) => `/organizations/${tenant.organization}`;
async function generationOf(table: string, id: string): Promise<number> {
  const [row] = await api.rows<{ generation: number }>(
    `select eligibility_generation as generation from ${table} where id = ?`,
    [id],
  );
  return row?.generation ?? 0;
}

describe('the transfer of a team', () => {
  const transfer = (by: ApiUser, tenant: Tenant, to: Tenant) =>
    by.post(`${tenant.teamPath}/transfer`, { organization_id: to.organization });

  /** A tenant whose owner is an admin of a second organization; all members of the team are members of both. */
  async function pair() {
    const [from, to] = [await makeTenant(api), await makeTenant(api)];
    await join(to, from.owner, 'admin');
    await from.owner.patch(from.teamPath, { slug: 'moving' });
    return { from, to, newPath: `${organizationOf(to)}/teams/${from.team}` };
  }

  test('moves it with its members and everything that it owns', async () => {
    const { from, to, newPath } = await pair();
    const answer = await transfer(from.owner, from, to);
    expect(answer).toMatchObject({
      status: 200,
      body: { id: from.team, organization_id: to.organization, revision: 3 },
    });
    expect((await from.owner.get(from.teamPath)).status).toBe(404);
    expect((await from.owner.get(newPath)).status).toBe(200);
    const environment = await from.owner.get(`/environments/${from.environment}`);
    expect(environment.body).toMatchObject({ organization_id: to.organization, team_id: from.team });
    expect(await generationOf('teams', from.team)).toBe(2);
    expect((await to.owner.get(`${newPath}/members`)).body.members).toMatchObject([{ user_id: from.owner.id }]);
  });

  test('revokes its open invitations', async () => {
    const { from, to } = await pair();
    const invited = await api.addUser('requester');
    const sent = await from.owner.post(`${from.teamPath}/invitations`, { email: invited.email });
    await transfer(from.owner, from, to);
    expectConflict(await invited.post('/invitations/accept', { token: sent.body.token }), 'was revoked');
  });

  test('is refused with the members who are not in the other organization', async () => {
    const { from, to } = await pair();
    const stranger = await api.addUser('requester', 'Dora Stranger');
    await join(from, stranger, 'member', 'viewer');
    expectConflict(await transfer(from.owner, from, to), 'not in the other organization: Dora Stranger; add them');
    await join(to, stranger, 'member');
    expect((await transfer(from.owner, from, to)).status).toBe(200);
  });

  test('is refused for a taken slug, into an archived organization, and into its own organization', async () => {
    const { from, to } = await pair();
    expectConflict(await transfer(from.owner, from, from), 'in this organization already');
    await from.owner.patch(from.teamPath, { slug: 'core' });
    expectConflict(await transfer(from.owner, from, to), '"core" is taken in the other organization');
    await from.owner.patch(from.teamPath, { slug: 'free' });
    await to.owner.post(`${organizationOf(to)}/archive`);
    expectConflict(await transfer(from.owner, from, to), 'the organization is archived');
  });

  test('requires authority in both organizations, and answers 404 for an organization of which the caller is not a member', async () => {
    const { from, to } = await pair();
    const elsewhere = await makeTenant(api);
    const hidden = await transfer(from.owner, from, elsewhere);
    const missing = await from.owner.post(`${from.teamPath}/transfer`, { organization_id: randomUUID() });
    expect([hidden.status, hidden.body]).toEqual([404, missing.body]);
    await join(elsewhere, from.owner, 'member');
    expect((await transfer(from.owner, from, elsewhere)).status).toBe(403);
    await join(from, to.owner, 'member', 'admin');
    expect((await transfer(to.owner, from, to)).status).toBe(403);
  });

  test('the transfer of a team at the same time as the removal of a member from the other organization leaves no member outside it', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { from, to, newPath } = await pair();
      const member = await api.addUser('requester');
      await join(from, member, 'member', 'member');
      await join(to, member, 'member');
      const remove = () => to.owner.delete(`${organizationOf(to)}/members/${member.id}`);
      const move = () => transfer(from.owner, from, to);
      const answers = await Promise.all(round % 2 ? [remove(), move()] : [move(), remove()]);
      expect(answers.map(({ status }) => status)).toContain(204);
      const { status, body } = await to.owner.get(`${newPath}/members`);
      if (status === 200) expect(JSON.stringify(body)).not.toContain(member.id);
    }
  });
});
