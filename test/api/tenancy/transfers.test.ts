import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const organizationOf = (tenant: Tenant) => `/organizations/${tenant.organization}`;
const expectConflict = (answer: ApiAnswer, ...reasons: string[]) => {
  expect(answer.status, answer.text).toBe(409);
  for (const reason of reasons) expect(answer.body.error).toContain(reason);
};
async function generationOf(table: string, id: string): Promise<number> {
  const [row] = await api.rows<{ generation: number }>(
    `select eligibility_generation as generation from ${table} where id = ?`,
    [id],
  );
  return row?.generation ?? 0;
}
async function rolesIn(tenant: Tenant, reader: ApiUser): Promise<Record<string, string>> {
  const { body } = await reader.get(`${organizationOf(tenant)}/members`);
  return Object.fromEntries(body.members.map((each: { user_id: string; role: string }) => [each.user_id, each.role]));
}

describe('the transfer of an organization', () => {
  const transfer = (by: ApiUser, tenant: Tenant, to: string, more = {}) =>
    by.post(`${organizationOf(tenant)}/transfer`, { new_owner_user_id: to, ...more });

  test('makes somebody its owner, a member or not, and an admin of whoever handed it over', async () => {
    const tenant = await makeTenant(api);
    const [heir, next] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    await join(tenant, heir, 'member');
    const answer = await transfer(tenant.owner, tenant, heir.id, { expected_revision: 1 });
    expect(answer).toMatchObject({ status: 200, body: { id: tenant.organization, revision: 2 } });
    expect(await rolesIn(tenant, heir)).toEqual({ [tenant.owner.id]: 'admin', [heir.id]: 'owner' });
    expect(await generationOf('organizations', tenant.organization)).toBe(2);
    expect((await transfer(tenant.owner, tenant, tenant.owner.id)).status).toBe(403);
    expect((await transfer(heir, tenant, next.id)).status).toBe(200);
    expect(await rolesIn(tenant, next)).toMatchObject({ [next.id]: 'owner', [heir.id]: 'admin' });
  });

  test('voids the invitations of before', async () => {
    const tenant = await makeTenant(api);
    const [heir, invited] = [await api.addUser('maintainer'), await api.addUser('requester')];
    const sent = await tenant.owner.post(`${organizationOf(tenant)}/invitations`, { email: invited.email });
    await transfer(tenant.owner, tenant, heir.id);
    expect((await invited.post('/invitations/accept', { token: sent.body.token })).status).toBe(409);
  });

  test('is refused to a disabled user, an owner, nobody, and with a stale revision', async () => {
    const tenant = await makeTenant(api);
    const [disabled, owner] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    await api.rows('update principals set enabled = false where id = ?', [disabled.id]);
    await join(tenant, owner, 'owner');
    expectConflict(await transfer(tenant.owner, tenant, disabled.id), 'this user is disabled');
    expectConflict(await transfer(tenant.owner, tenant, owner.id), 'is an owner already');
    expectConflict(await transfer(tenant.owner, tenant, tenant.owner.id), 'is an owner already');
    expect((await transfer(tenant.owner, tenant, randomUUID())).status).toBe(403);
    expectConflict(await transfer(tenant.owner, tenant, disabled.id, { expected_revision: 7 }), 'is stale');
    await tenant.owner.post(`${organizationOf(tenant)}/archive`);
    expectConflict(await transfer(tenant.owner, tenant, disabled.id), 'is archived');
  });

  test('is for its owners; an administrator of the installation may as well, and becomes nothing by it', async () => {
    const tenant = await makeTenant(api);
    const [admin, heir, root] = [
      await api.addUser('maintainer'),
      await api.addUser('maintainer'),
      await api.addUser('admin'),
    ];
    await join(tenant, admin, 'admin');
    expect((await transfer(admin, tenant, admin.id)).status).toBe(403);
    expect((await transfer(heir, tenant, heir.id)).status).toBe(404);
    expect((await transfer(root, tenant, heir.id)).status).toBe(200);
    expect(await rolesIn(tenant, heir)).toEqual({
      ...{ [tenant.owner.id]: 'owner', [admin.id]: 'admin', [heir.id]: 'owner' },
    });
  });

  test('to two people at the same time makes one of them the owner', async () => {
    const tenant = await makeTenant(api);
    const heirs = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    const answers = await Promise.all(heirs.map((heir) => transfer(tenant.owner, tenant, heir.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    const root = await api.addUser('admin');
    expect(Object.values(await rolesIn(tenant, root)).sort()).toEqual(['admin', 'owner']);
  });
});

describe('the transfer of a team', () => {
  const transfer = (by: ApiUser, tenant: Tenant, to: Tenant) =>
    by.post(`${tenant.teamPath}/transfer`, { organization_id: to.organization });

  /** Somebody who owns one team and administers the other organization; everybody of the team is in both. */
  async function pair() {
    const [from, to] = [await makeTenant(api), await makeTenant(api)];
    await join(to, from.owner, 'admin');
    await from.owner.patch(from.teamPath, { slug: 'moving' });
    return { from, to, newPath: `${organizationOf(to)}/teams/${from.team}` };
  }

  test('moves it with its members and all that it owns', async () => {
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

  test('ends the invitations into it', async () => {
    const { from, to } = await pair();
    const invited = await api.addUser('requester');
    const sent = await from.owner.post(`${from.teamPath}/invitations`, { email: invited.email });
    await transfer(from.owner, from, to);
    expectConflict(await invited.post('/invitations/accept', { token: sent.body.token }), 'was revoked');
  });

  test('is refused while members of it are not in the other organization, by their names', async () => {
    const { from, to } = await pair();
    const stranger = await api.addUser('requester', 'Dora Stranger');
    await join(from, stranger, 'member', 'viewer');
    expectConflict(await transfer(from.owner, from, to), 'not in the other organization: Dora Stranger; add them');
    await join(to, stranger, 'member');
    expect((await transfer(from.owner, from, to)).status).toBe(200);
  });

  test('is refused for a slug that is taken there, for what is archived, and to where it is', async () => {
    const { from, to } = await pair();
    expectConflict(await transfer(from.owner, from, from), 'in this organization already');
    await from.owner.patch(from.teamPath, { slug: 'core' });
    expectConflict(await transfer(from.owner, from, to), '"core" is taken in the other organization');
    await from.owner.patch(from.teamPath, { slug: 'free' });
    await to.owner.post(`${organizationOf(to)}/archive`);
    expectConflict(await transfer(from.owner, from, to), 'the organization is archived');
  });

  test('needs authority on both sides, and tells nothing of an organization that one is not in', async () => {
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

  test('and the removal of a member from the other organization never leave a member outside it', async () => {
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

describe('the transfer of a project', () => {
  const transfer = (by: ApiUser, tenant: Tenant, team: string, more = {}) =>
    by.post(`/projects/${tenant.project}/transfer`, { team_id: team, ...more });

  /** A tenant, and another team whose owner is the same, in another organization. */
  async function pair() {
    const from = await makeTenant(api);
    const to = await makeTenant(api);
    await join(to, from.owner, 'member', 'admin');
    await from.owner.patch(`/projects/${from.project}`, { slug: 'moving' });
    return { from, to };
  }

  /** A run of a template, which belongs to the tenant's team or to nobody. */
  async function admitRun(tenant: Tenant, ofTeam: boolean): Promise<ApiAnswer> {
    const maker = ofTeam ? tenant.owner : await api.addUser('admin');
    const slug = `template-${randomUUID().slice(0, 8)}`;
    const template = await maker.make('/registry/templates', {
      name: slug,
      slug,
      ...(ofTeam && { team_id: tenant.team }),
    });
    await maker.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
    const request = { template_id: template.id, environment_id: tenant.environment, instance: 'network' };
    const run = await tenant.owner.post('/runs', request);
    expect(run.status, run.text).toBe(202);
    return run;
  }

  test('moves it with its environments, instances and runs: the other team reads them, the former one does not', async () => {
    const { from, to } = await pair();
    const { body: run } = await admitRun(from, false);
    await from.owner.post(`/runs/${run.id}/cancel`, { force: true });
    await api.rows('update instances set resource_count = 1 where id = ?', [run.instance_id]);
    const colleague = await api.addUser('maintainer');
    await join(from, colleague, 'member', 'owner');
    const answer = await transfer(from.owner, from, to.team, { expected_revision: 2 });
    expect(answer).toMatchObject({
      ...{ status: 200, body: { team_id: to.team, organization_id: to.organization, revision: 3 } },
    });
    const moved = ['/projects/', '/environments/', '/instances/', '/runs/'];
    const ids = [from.project, from.environment, run.instance_id, run.id];
    for (const [index, path] of moved.entries()) {
      expect((await to.owner.get(path + ids[index])).body.team_id, path).toBe(to.team);
      expect((await colleague.get(path + ids[index])).status, path).toBe(404);
    }
    const listed = async (team: string, by: ApiUser) => (await by.get(`/runs?team_id=${team}`)).body.runs;
    expect(await listed(to.team, to.owner)).toMatchObject([{ id: run.id }]);
    expect(await listed(from.team, colleague)).toEqual([]);
    expect((await to.owner.get(`/runs?environment_id=${from.environment}`)).body.runs).toHaveLength(1);
    expect(await generationOf('projects', from.project)).toBe(2);
    expect(await generationOf('environments', from.environment)).toBe(2);
  });

  test('is refused while a run of it has not ended, by its id', async () => {
    const { from, to } = await pair();
    const { body: run } = await admitRun(from, true);
    expectConflict(await transfer(from.owner, from, to.team), `runs that have not ended: ${run.id}`);
    await from.owner.post(`/runs/${run.id}/cancel`, { force: true });
    expect((await transfer(from.owner, from, to.team)).status).toBe(200);
    const requeued = await to.owner.post(`/runs/${run.id}/requeue`);
    expectConflict(requeued, "the run's template or environment is gone");
  });

  test('is refused while something of it is deployed from a template of its team, by the names of both', async () => {
    const { from, to } = await pair();
    const { body: run } = await admitRun(from, true);
    await from.owner.post(`/runs/${run.id}/cancel`, { force: true });
    await api.rows('update instances set resource_count = 1 where id = ?', [run.instance_id]);
    expectConflict(await transfer(from.owner, from, to.team), '"network" (template template-', 'destroy them first');
    await api.rows('update instances set resource_count = 0 where id = ?', [run.instance_id]);
    expect((await transfer(from.owner, from, to.team)).status).toBe(200);
  });

  test('is refused for a slug that is taken there, for what is archived, a stale revision, and to where it is', async () => {
    const { from, to } = await pair();
    expectConflict(await transfer(from.owner, from, from.team), "this team's already");
    expectConflict(await transfer(from.owner, from, to.team, { expected_revision: 1 }), 'is stale');
    await from.owner.patch(`/projects/${from.project}`, { slug: 'network' });
    expectConflict(await transfer(from.owner, from, to.team), '"network" is taken in the other team');
    await to.owner.post(`${to.teamPath}/archive`);
    expectConflict(await transfer(from.owner, from, to.team), 'the team is archived');
  });

  test('needs authority on both sides, and tells nothing of a team that one may not read', async () => {
    const { from, to } = await pair();
    const elsewhere = await makeTenant(api);
    const hidden = await transfer(from.owner, from, elsewhere.team);
    expect([hidden.status, hidden.body]).toEqual([404, (await transfer(from.owner, from, randomUUID())).body]);
    await join(elsewhere, from.owner, 'member', 'member');
    expect((await transfer(from.owner, from, elsewhere.team)).status).toBe(403);
    expect((await transfer(to.owner, from, to.team)).status).toBe(404);
    await join(from, to.owner, 'member', 'member');
    expect((await transfer(to.owner, from, to.team)).status).toBe(403);
  });

  test('and whatever is done in it at the same time agree whose it is', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { from, to } = await pair();
      const { body: first } = await admitRun(from, false);
      await from.owner.post(`/runs/${first.id}/cancel`, { force: true });
      const request = { template_id: first.template_id, environment_id: from.environment, instance: 'network' };
      const work: [() => Promise<ApiAnswer>, number[]][] = [
        [() => transfer(from.owner, from, to.team), [200, 409]],
        [() => from.owner.post('/runs', request), [202]],
        [() => from.owner.post('/environments', { project_id: from.project, name: 'Late', kind: 'staging' }), [201]],
        [() => from.owner.patch(`/environments/${from.environment}`, { name: 'Renamed' }), [200]],
      ];
      const order = round % 2 ? work.toReversed() : work;
      const answers = await Promise.all(order.map(([ask]) => ask()));
      for (const [index, answer] of answers.entries()) expect(order[index]?.[1], answer.text).toContain(answer.status);
      const rows = await api.rows<{ team_id: string }>(
        `select t.team_id from projects p join environments e on e.project_id = p.id
           cross join lateral (select p.team_id union all select i.team_id from instances i where i.environment_id = e.id
             union all select r.team_id from runs r where r.environment_id = e.id) t where p.id = ?`,
        [from.project],
      );
      expect(new Set(rows.map((row) => row.team_id)).size).toBe(1);
    }
  });

  test('is what whoever waited for it goes on with', async () => {
    const { from, to } = await pair();
    const { body: first } = await admitRun(from, false);
    const move = api.services.orm.em.fork();
    await move.begin();
    await move.execute('update projects set team_id = ? where id = ?', [to.team, from.project]);
    const request = { template_id: first.template_id, environment_id: from.environment };
    const waiting = [
      from.owner.post('/runs', request),
      from.owner.post('/environments', { project_id: from.project, name: 'Late', kind: 'staging' }),
      from.owner.patch(`/environments/${from.environment}`, { name: 'Renamed' }),
    ];
    await expect
      .poll(() =>
        api.rows(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      )
      .toHaveLength(waiting.length);
    await move.commit();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status, body }) => [status, body.team_id])).toEqual([
      [202, to.team],
      [201, to.team],
      [200, to.team],
    ]);
  });

  test('in opposite directions at the same time ends', async () => {
    const { from, to } = await pair();
    await join(from, to.owner, 'member', 'admin');
    await to.owner.patch(`/projects/${to.project}`, { slug: 'coming' });
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        index % 2 ? transfer(from.owner, from, to.team) : transfer(to.owner, to, from.team),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
  });
});
