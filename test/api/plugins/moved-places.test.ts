import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import type { PluginClient } from '#test/support/plugins/plugin-world.ts';
import { addUser, type PluginStage, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

/** A team of an organization with a plugin, and a command of the administrator of everything. */
async function stageTeam() {
  const stage = await stagePlugin(api, 'organization');
  const send = async (method: string, path: string, body: unknown = {}) => {
    const answer = await stage.root.command([method, path], body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  return { ...stage, selector: { type: 'team', id: stage.team }, send };
}
type TeamStage = Awaited<ReturnType<typeof stageTeam>>;

const teamPath = ({ organization, team }: PluginStage) => `/organizations/${organization}/teams/${team}`;

/** Transfers the team to another organization, with another slug. */
async function moveTeam(stage: TeamStage): Promise<string> {
  const { id } = await stage.send('POST', '/organizations', { name: `Elsewhere ${stage.team.slice(-12)}` });
  await stage.send('POST', `${teamPath(stage)}/transfer`, { organization_id: id });
  await stage.send('PATCH', `/organizations/${id}/teams/${stage.team}`, { name: 'Secret plans' });
  return id;
}

const list = async (client: PluginClient, path: string, member: string) =>
  (await client.send('GET', path)).body[member].map(({ id }: { id: string }) => id);

describe('a background principal whose team was transferred to another organization', () => {
  it('is listed only for users who may read the team now', async () => {
    const stage = await stageTeam();
    const { root, sync, installation, selector, organization } = stage;
    const before = await addUser(api, 'maintainer', { organizations: { [organization]: 'admin' } });
    const ofTeam = await root.approveBackground(installation, sync, selector);
    const stays = await root.approveBackground(installation, sync, { type: 'organization', id: organization });
    const path = `/plugin-background-principals?installation_id=${installation}`;
    const listFor = ({ client }: { client: PluginClient }) => list(client, path, 'background_principals');
    expect(await listFor(before)).toEqual([stays, ofTeam]);
    const elsewhere = await moveTeam(stage);
    const after = await addUser(api, 'maintainer', { organizations: { [elsewhere]: 'admin' } });
    expect(await listFor(before)).toEqual([stays]);
    expect(await listFor(after)).toEqual([ofTeam]);
    const one = `/plugin-background-principals/${ofTeam}`;
    expect((await before.client.send('GET', one)).status).toBe(404);
    expect((await after.client.send('GET', one)).status).toBe(200);
  });
});

describe('an assignment whose subject may not read its place', () => {
  const leavings: Readonly<Record<string, (stage: TeamStage, member: string) => Promise<unknown>>> = {
    'since it left the team': async (stage, member) => {
      await stage.send('DELETE', `${teamPath(stage)}/members/${member}`);
      await stage.send('PATCH', teamPath(stage), { name: 'Secret plans' });
    },
    'since it left and the team was given to another organization': async (stage, member) => {
      await stage.send('DELETE', `${teamPath(stage)}/members/${member}`);
      await moveTeam(stage);
    },
  };

  it.each(Object.entries(leavings))('%s is shown without the present owners of the place', async (_name, leave) => {
    const stage = await stageTeam();
    const { root, sync, team, organization, selector } = stage;
    const memberships = { teams: { [team]: 'member' }, organizations: { [organization]: 'member' } } as const;
    const { id, client } = await addUser(api, 'requester', memberships);
    const grant = await root.assign(sync, { type: 'user', id }, selector);
    const read = async () => (await client.send('GET', `/plugin-action-grants/${grant}`)).body;
    const listed = async (query: string) => (await client.send('GET', `/plugin-action-grants?${query}`)).body.grants;
    expect((await read()).ownership).toMatchObject({ team_id: team });
    expect(await listed('')).toMatchObject([{ id: grant, ownership: { team_id: team } }]);
    await leave(stage, id);
    expect(await read()).toMatchObject({ id: grant, selector, ownership: null });
    expect(await listed('')).toMatchObject([{ id: grant, selector, ownership: null }]);
    expect(await listed('selector=secret')).toEqual([]);
    expect(await listed(`selector=${team}`)).toMatchObject([{ id: grant }]);
    const administrator = await root.read(`/plugin-action-grants?subject_id=${id}&selector=secret`);
    expect(administrator.grants).toMatchObject([{ id: grant, ownership: { team_id: team } }]);
  });
});
