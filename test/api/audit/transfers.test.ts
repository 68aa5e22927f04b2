import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let admin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());

/** The committed records of a transfer that an owner finds with the filter by that owner. */
async function find(by: ApiUser, action: string, owner: string) {
  const { status, text, body } = await by.get(`/audit?${owner}&action=${action}&outcome=committed`);
  expect(status, text).toBe(200);
  return body.audit_records;
}

/** Expects one record of a request for the earlier owner and another one for the new owner, both with the change. */
async function expectBoth(
  action: string,
  { headers }: ApiAnswer,
  sides: readonly [former: Tenant, next: Tenant],
  filter: (side: Tenant) => string,
) {
  const [[former], [next]] = await Promise.all(sides.map((side) => find(side.owner, action, filter(side))));
  const request = headers['x-request-id'];
  expect(former).toMatchObject({ organization_id: sides[0].organization, request_id: request });
  expect(next).toMatchObject({ organization_id: sides[1].organization, request_id: request });
  expect(former.id).not.toBe(next.id);
  expect(former).toMatchObject({ before: next.before, after: next.after, resource: next.resource, actor: next.actor });
  return { former, next };
}

/** A tenant whose owner is also an admin of the organization and the team of another tenant. */
async function pair(): Promise<[Tenant, Tenant]> {
  const [from, to] = [await makeTenant(api), await makeTenant(api)];
  await join(to, from.owner, 'admin', 'owner');
  return [from, to];
}

const inOrganization = ({ organization }: Tenant) => `organization_id=${organization}`;
const inTeam = ({ team }: Tenant) => `team_id=${team}`;

describe('the transfer of a project', () => {
  it('is found by the earlier and the new organization and team, and distinguishes them', async () => {
    const [from, to] = await pair();
    await from.owner.patch(`/projects/${from.project}`, { slug: 'moving' });
    const answer = await from.owner.post(`/projects/${from.project}/transfer`, { team_id: to.team });
    expect(answer.status, answer.text).toBe(200);
    for (const filter of [inOrganization, inTeam]) {
      const { former, next } = await expectBoth('project.transferred', answer, [from, to], filter);
      expect([former.team_id, next.team_id]).toEqual([from.team, to.team]);
      expect([former.before, former.after]).toEqual([
        { organization_id: from.organization, team_id: from.team },
        { organization_id: to.organization, team_id: to.team },
      ]);
    }
  });

  it('both teams find the record of the transfer of a project within an organization', async () => {
    const tenant = await makeTenant(api);
    const other = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Edge' });
    const answer = await tenant.owner.post(`/projects/${tenant.project}/transfer`, { team_id: other.id });
    expect(answer.status, answer.text).toBe(200);
    for (const team of [tenant.team, other.id])
      expect(await find(tenant.owner, 'project.transferred', `team_id=${team}`)).toMatchObject([{ team_id: team }]);
    expect(await find(tenant.owner, 'project.transferred', inOrganization(tenant))).toHaveLength(2);
  });
});

it("the record of a team's transfer is found by the earlier and the new organization", async () => {
  const [from, to] = await pair();
  await from.owner.patch(from.teamPath, { slug: 'moving' });
  const answer = await from.owner.post(`${from.teamPath}/transfer`, { organization_id: to.organization });
  expect(answer.status, answer.text).toBe(200);
  const { former, next } = await expectBoth('team.transferred', answer, [from, to], inOrganization);
  expect([former.team_id, next.team_id]).toEqual([from.team, from.team]);
  expect([former.before, former.after]).toEqual([
    { organization_id: from.organization },
    { organization_id: to.organization },
  ]);
});

describe('the transfer of a service account', () => {
  const make = (by: ApiUser, owner: object) =>
    by.make('/service-accounts', { name: 'deploy', role: 'requester', owner });
  const transfer = (by: ApiUser, { id }: { id: string }, owner: object) =>
    by.post(`/service-accounts/${id}/transfer`, { owner });

  it('both teams and their organizations find the record of the transfer of a service account from team to team', async () => {
    const [from, to] = await pair();
    const account = await make(from.owner, { team_id: from.team });
    const answer = await transfer(from.owner, account, { team_id: to.team });
    expect(answer.status, answer.text).toBe(200);
    for (const filter of [inOrganization, inTeam]) {
      const { former } = await expectBoth('service_account.transferred', answer, [from, to], filter);
      expect([former.before.owner.team_id, former.after.owner.team_id]).toEqual([from.team, to.team]);
    }
  });

  it('the transfer of a service account between a team and a user leaves one record, which names the team', async () => {
    const tenant = await makeTenant(api);
    const account = await make(tenant.owner, { user_id: tenant.owner.id });
    const records = () => find(admin, 'service_account.transferred', `resource_id=${account.id}`);
    expect((await transfer(tenant.owner, account, { team_id: tenant.team })).status).toBe(200);
    expect(await records()).toMatchObject([{ team_id: tenant.team }]);
    expect((await transfer(tenant.owner, account, { user_id: tenant.owner.id })).status).toBe(200);
    expect(await records()).toMatchObject([{ team_id: tenant.team }, { team_id: tenant.team }]);
  });
});
