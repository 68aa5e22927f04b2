import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { sendMessages, storedMessages } from '#test/support/messages/sending.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { NotifiedTeam } from '#test/support/notifications/notified-team.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';

/** The channels that report full quotas, and the links in their messages. */
let api: TestApi;
let endpoint: Endpoint;
let team: NotifiedTeam;
let owner: ApiUser;
let admin: ApiUser;

beforeAll(async () => {
  endpoint = await startEndpoint();
  api = await startApi({
    COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1',
    COORDINATOR_BASE_URL: 'https://delivery.example.com',
  });
  team = await NotifiedTeam.start(api);
  ({ owner } = team.runs.tenant);
  admin = await api.addUser('admin');
});
afterAll(async () => {
  await api?.close();
  await endpoint?.close();
});
beforeEach(async () => {
  await api.rows('delete from notification_channels');
  await team.forget();
  endpoint.heard.length = 0;
});

const chat = () => ({ kind: 'slack', config: { url: endpoint.url } });
const texts = () => endpoint.heard.map(({ body }) => JSON.parse(body).text as string);

describe('a channel', () => {
  it("reports a full quota of its owner, with a link that the owner's members may open", async () => {
    const { tenant } = team.runs;
    const { organization, team: teamId, project, environment } = tenant;
    const stranger = await makeTenant(api);
    await makeChannel(stranger.owner, { ...chat(), name: 'Stranger', organization_id: stranger.organization });
    const ofTeam = { ...chat(), team_id: teamId };
    const elsewhere = await owner.make('/environments', { project_id: project, name: 'Quiet', kind: 'development' });
    await makeChannel(owner, { ...ofTeam, subscriptions: [{ environment_id: elsewhere.id, events: ['*'] }] });
    await makeChannel(owner, { ...ofTeam, subscriptions: [{ environment_id: environment, events: ['quota.*'] }] });
    await makeChannel(owner, { ...chat(), project_id: project });
    await makeChannel(owner, { ...chat(), organization_id: organization });
    await makeChannel(admin, chat());
    const linksTo = async (scope: 'environment' | 'team' | 'organization', id: string) => {
      endpoint.heard.length = 0;
      const data = { scope, id, kind: 'concurrent_runs', limit: 1, used: 1 } as const;
      await team.publish({ type: 'quota.exceeded', subjectId: id, owners: { teamId }, data });
      await sendMessages(api);
      for (const text of texts())
        expect(text).toMatch(/ has used 1 of 1 runs that execute at once\*\nFurther runs wait /);
      return texts()
        .map((text) => /<https:\/\/delivery\.example\.com(.+)\|/.exec(text)?.[1])
        .sort();
    };
    const page = `/environments/${environment}`;
    const admins = (scope: string, id: string) => `/admin/quotas/${scope}/${id}`;
    expect(await linksTo('environment', environment)).toEqual([admins('environment', environment), page, page, page]);
    const organizationPage = `/organizations/${organization}`;
    expect(await linksTo('team', teamId)).toEqual([admins('team', teamId), `${organizationPage}/teams/${teamId}`]);
    expect(await linksTo('organization', organization)).toEqual([
      admins('organization', organization),
      organizationPage,
    ]);
  });

  it('reports a full quota of the installation only if the installation owns it', async () => {
    await makeChannel(owner, { ...chat(), organization_id: team.runs.tenant.organization });
    const { path } = await makeChannel(admin, chat());
    const [{ id }] = (await api.rows('select id from installation')) as [{ id: string }];
    const data = { scope: 'installation', id: 'global', kind: 'runs_per_day', limit: 9, used: 9 } as const;
    await team.publish({ type: 'quota.exceeded', subjectId: id, owners: { teamId: null }, data });
    await sendMessages(api);
    expect(texts()).toEqual([expect.stringContaining('*The installation has used 9 of 9 runs admitted today (UTC)*')]);
    expect(texts()[0]).toContain('/admin/quotas/installation/global|');
    expect((await admin.get(path)).body.problem).toBeNull();
  });

  it('does not report the quota of a team that has left its organization', async () => {
    const { organization, team: teamId } = await makeTenant(api);
    await makeChannel(admin, { ...chat(), organization_id: organization });
    const data = { scope: 'team', id: teamId, kind: 'instances', limit: 1, used: 1 } as const;
    await team.publish({ type: 'quota.exceeded', subjectId: teamId, owners: { teamId }, data });
    await api.rows("update teams set organization_id = ?, slug = 'moved' where id = ?", [
      team.runs.tenant.organization,
      teamId,
    ]);
    await sendMessages(api);
    expect(endpoint.heard).toEqual([]);
    const problem = 'the channel is disabled, or none of its subscriptions matches this any more';
    expect(await storedMessages(api)).toContainEqual(expect.objectContaining({ status: 'withheld', problem }));
  });
});
