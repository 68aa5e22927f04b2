import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let admin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());

async function makePool(rules: object): Promise<string> {
  const name = `pool-${newId()}`;
  await admin.make('/worker-pools', { name, ...rules });
  return name;
}

const readPool = async (name: string) => (await admin.get(`/worker-pools/${name}`)).body;

/** A tenant, and another one whose owner receives a project or a team of the first. */
async function pair(): Promise<{ from: Tenant; to: Tenant }> {
  const [from, to] = [await makeTenant(api), await makeTenant(api)];
  await join(to, from.owner, 'admin', 'admin');
  await from.owner.patch(`/projects/${from.project}`, { slug: 'moving' });
  await from.owner.patch(from.teamPath, { slug: 'moving' });
  return { from, to };
}

async function transferProject({ from, to }: { from: Tenant; to: Tenant }): Promise<void> {
  const answer = await from.owner.post(`/projects/${from.project}/transfer`, { team_id: to.team });
  expect(answer.status, answer.text).toBe(200);
}

async function transferTeam({ from, to }: { from: Tenant; to: Tenant }): Promise<void> {
  const answer = await from.owner.post(`${from.teamPath}/transfer`, { organization_id: to.organization });
  expect(answer.status, answer.text).toBe(200);
}

/** Requests a run in the pool, of a template that belongs to the owner's team. */
async function requestRun(by: ApiUser, team: string, environment: string, pool: string) {
  const name = `template-${newId().slice(-12)}`;
  const template = await by.make('/registry/templates', { name, slug: name, team_id: team });
  await by.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: { ...sayHello, pool } });
  return by.post('/runs', { template_id: template.id, environment_id: environment });
}

describe('the transfer of a project', () => {
  it('removes its environments from pools, and refuses a run in a pool that had only these', async () => {
    const { from, to } = await pair();
    const pool = await makePool({ environment_ids: [from.environment] });
    await transferProject({ from, to });
    expect(await readPool(pool)).toMatchObject({ team_ids: null, environment_ids: [], revision: 2 });
    expectConflict(await requestRun(to.owner, to.team, from.environment, pool), 'pool');
  });

  it('keeps the other entries in their order, and pools without its environments', async () => {
    const { from, to } = await pair();
    const other = await makeTenant(api);
    const listed = await makePool({
      team_ids: [from.team, other.team],
      environment_ids: [other.environment, from.environment, to.environment],
    });
    const [open, unrelated] = [await makePool({}), await makePool({ environment_ids: [other.environment] })];
    await transferProject({ from, to });
    expect(await readPool(listed)).toMatchObject({
      team_ids: [from.team, other.team],
      environment_ids: [other.environment, to.environment],
      revision: 2,
    });
    expect(await readPool(open)).toMatchObject({ team_ids: null, environment_ids: null, revision: 1 });
    expect(await readPool(unrelated)).toMatchObject({ environment_ids: [other.environment], revision: 1 });
  });

  it('transferring a project back does not restore its entry in a pool', async () => {
    const { from, to } = await pair();
    const pool = await makePool({ environment_ids: [from.environment] });
    await transferProject({ from, to });
    await join(from, to.owner, 'member', 'admin');
    const back = await to.owner.post(`/projects/${from.project}/transfer`, { team_id: from.team });
    expect(back.status, back.text).toBe(200);
    expect(await readPool(pool)).toMatchObject({ environment_ids: [] });
  });

  it('a transfer of a project that is refused changes no pool', async () => {
    const { from, to } = await pair();
    const pool = await makePool({ environment_ids: [from.environment] });
    const body = { team_id: to.team, expected_revision: 99 };
    expectConflict(await from.owner.post(`/projects/${from.project}/transfer`, body), 'stale');
    expect(await readPool(pool)).toMatchObject({ environment_ids: [from.environment], revision: 1 });
  });
});

describe('the transfer of a team', () => {
  it('removes the team and its environments from pools, which stay closed to everybody else', async () => {
    const { from, to } = await pair();
    const ofTeam = await makePool({ team_ids: [from.team] });
    const ofEnvironment = await makePool({ environment_ids: [from.environment] });
    const ofBoth = await makePool({ team_ids: [from.team, to.team], environment_ids: [from.environment] });
    await transferTeam({ from, to });
    expect(await readPool(ofTeam)).toMatchObject({ team_ids: [], environment_ids: null, revision: 2 });
    expect(await readPool(ofEnvironment)).toMatchObject({ team_ids: null, environment_ids: [], revision: 2 });
    expect(await readPool(ofBoth)).toMatchObject({ team_ids: [to.team], environment_ids: [] });
    for (const pool of [ofTeam, ofEnvironment])
      expectConflict(await requestRun(from.owner, from.team, from.environment, pool), 'pool');
  });
});
