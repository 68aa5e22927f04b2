import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { type ApiAnswer, type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

async function generationOf(table: string, id: string): Promise<number> {
  const [row] = await api.rows<{ generation: number }>(
    `select eligibility_generation as generation from ${table} where id = ?`,
    [id],
  );
  return row?.generation ?? 0;
}

describe('the transfer of a project', () => {
  const transfer = (by: ApiUser, tenant: Tenant, team: string, more = {}) =>
    by.post(`/projects/${tenant.project}/transfer`, { team_id: team, ...more });

  /** A tenant, and a team in another organization; the tenant's owner is a member there and an admin of the team. */
  async function pair() {
    const from = await makeTenant(api);
    const to = await makeTenant(api);
    await join(to, from.owner, 'member', 'admin');
    await from.owner.patch(`/projects/${from.project}`, { slug: 'moving' });
    return { from, to };
  }

  async function canTransfer(by: ApiUser, { project, team }: Tenant) {
    const review = { group: 'delivery.coordinator', version: 'v1', resource: 'projects', verb: 'transfer' };
    const { body } = await by.post('/auth/can-i', { resource_attributes: { ...review, name: project, team_id: team } });
    return body.status;
  }

  /** Admits a run of a template that belongs to the tenant's team or to the installation. */
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

  test('moves its environments, instances and runs, which only the new team can read', async () => {
    const { from, to } = await pair();
    const { body: run } = await admitRun(from, false);
    await from.owner.post(`/runs/${run.id}/cancel`, { force: true });
    await api.rows('update instances set resource_count = 1 where id = ?', [run.instance_id]);
    const colleague = await api.addUser('maintainer');
    await join(from, colleague, 'member', 'owner');
    const answer = await transfer(from.owner, from, to.team, { expected_revision: 2 });
    expect(answer).toMatchObject({
      status: 200,
      body: { team_id: to.team, organization_id: to.organization, revision: 3 },
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

  test('is refused with the runs that have not ended', async () => {
    const { from, to } = await pair();
    const { body: run } = await admitRun(from, true);
    expectConflict(await transfer(from.owner, from, to.team), `runs that have not ended: ${run.id}`);
    await from.owner.post(`/runs/${run.id}/cancel`, { force: true });
    expect((await transfer(from.owner, from, to.team)).status).toBe(200);
    const requeued = await to.owner.post(`/runs/${run.id}/requeue`);
    expectConflict(requeued, "the run's template or environment is gone");
  });

  test('is refused with the instances that are deployed from a template of its team', async () => {
    const { from, to } = await pair();
    const { body: run } = await admitRun(from, true);
    await from.owner.post(`/runs/${run.id}/cancel`, { force: true });
    await api.rows('update instances set resource_count = 1 where id = ?', [run.instance_id]);
    expectConflict(await transfer(from.owner, from, to.team), '"network" (template template-', 'destroy them first');
    await api.rows('update instances set resource_count = 0 where id = ?', [run.instance_id]);
    expect((await transfer(from.owner, from, to.team)).status).toBe(200);
  });

  test('is refused for a taken slug, a stale revision, an archived team, and its own team', async () => {
    const { from, to } = await pair();
    expectConflict(await transfer(from.owner, from, from.team), "this team's already");
    expectConflict(await transfer(from.owner, from, to.team, { expected_revision: 1 }), 'is stale');
    await from.owner.patch(`/projects/${from.project}`, { slug: 'network' });
    expectConflict(await transfer(from.owner, from, to.team), '"network" is taken in the other team');
    await to.owner.post(`${to.teamPath}/archive`);
    expectConflict(await transfer(from.owner, from, to.team), 'the team is archived');
  });

  test('requires authority in both teams, and answers 404 for a team that the caller may not read', async () => {
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

  test('is refused to an admin of the team, who could weaken the rules of its environments in another team', async () => {
    const from = await makeTenant(api, { kind: 'production', approval_policy: { required: 2, when: 'always' } });
    const to = await makeTenant(api);
    await join(from, to.owner, 'member', 'admin');
    await from.owner.patch(`/projects/${from.project}`, { slug: 'moving' });
    const weaken = () =>
      to.owner.patch(`/environments/${from.environment}`, { approval_policy: { required: 0, when: 'always' } });
    expect((await weaken()).status).toBe(403);
    const answer = await transfer(to.owner, from, to.team);
    expect(answer, answer.text).toMatchObject({
      status: 403,
      body: {
        error:
          'permission denied: this needs team.metadata.write (the team role admin) and team.delete (the team role owner) in the team that owns the project',
      },
    });
    expect((await weaken()).status).toBe(403);
    expect((await from.owner.get(`/projects/${from.project}`)).body.team_id).toBe(from.team);
    expect(await canTransfer(to.owner, from)).toMatchObject({ denied: true, reason: { code: 'permission_denied' } });
    expect(await canTransfer(from.owner, from)).toMatchObject({ allowed: true });
  });

  test('is refused to an owner of the organization who has no role in the team', async () => {
    const { from, to } = await pair();
    await join(from, to.owner, 'owner');
    expect((await transfer(to.owner, from, to.team)).status).toBe(403);
    expect(await canTransfer(to.owner, from)).toMatchObject({ denied: true, reason: { code: 'permission_denied' } });
  });

  test('the transfer of a project to another organization requires an administrator of the present one, and within it an owner of the team', async () => {
    const from = await makeTenant(api, { kind: 'production' });
    await from.owner.patch(`/projects/${from.project}`, { slug: 'moving' });
    const lead = await api.addUser('maintainer');
    await join(from, lead, 'member', 'owner');
    const outside = await makeTenant(api);
    await join(outside, lead, 'member', 'owner');
    const inside = await from.owner.make(`/organizations/${from.organization}/teams`, { name: 'Edge' });
    const insidePath = `/organizations/${from.organization}/teams/${inside.id}`;
    expect((await from.owner.put(`${insidePath}/members/${lead.id}`, { role: 'admin' })).status).toBe(200);
    expect(await transfer(lead, from, outside.team)).toMatchObject({
      status: 403,
      body: {
        error:
          'permission denied: to another organization, this needs the role admin in the organization that owns the project as well',
      },
    });
    expect((await transfer(lead, from, randomUUID())).status).toBe(404);
    expect((await transfer(lead, from, inside.id)).status).toBe(200);
    await from.owner.put(`${insidePath}/members/${lead.id}`, { role: 'owner' });
    await join(from, lead, 'admin');
    expect((await transfer(lead, from, outside.team)).status).toBe(200);
  });

  test('the transfer of a project to another organization is allowed to platform administrators', async () => {
    const { from, to } = await pair();
    expect((await transfer(await api.addUser('admin'), from, to.team)).status).toBe(200);
  });

  test('the transfer of a project at the same time as changes inside it leaves everything with one owner', async () => {
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

  test('takes effect for commands that waited for it', async () => {
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
    await awaitLockWaits(api.services.orm, waiting.length);
    await move.commit();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status, body }) => [status, body.team_id])).toEqual([
      [202, to.team],
      [201, to.team],
      [200, to.team],
    ]);
  });

  test('transfers of projects in opposite directions at the same time do not deadlock', async () => {
    const { from, to } = await pair();
    await join(from, to.owner, 'member', 'owner');
    await join(to, from.owner, 'member', 'owner');
    await to.owner.patch(`/projects/${to.project}`, { slug: 'coming' });
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        index % 2 ? transfer(from.owner, from, to.team) : transfer(to.owner, to, from.team),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
  });
});
