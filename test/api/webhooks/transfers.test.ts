import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';

/** Webhooks and channels when a project or a team is transferred to another owner. */
let api: TestApi;
let endpoint: Endpoint;
let from: Tenant;
let to: Tenant;
let owner: ApiUser;
let sending: Sending;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  sending = await startSending(api);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});
beforeEach(async () => {
  await api.rows('delete from webhooks');
  [from, to] = [await makeTenant(api), await makeTenant(api)];
  ({ owner } = from);
  await join(to, owner, 'admin', 'owner');
  endpoint.heard.splice(0);
});

const create = async (of: object, name = 'Chat'): Promise<string> =>
  (await owner.make('/admin/webhooks', { name, url: `${endpoint.url}${name}`, events: ['*'], ...of })).id;
const read = async (id: string) => (await owner.get(`/admin/webhooks/${id}`)).body;
const heardBy = (name: string) =>
  endpoint.heard.filter(({ path }) => path.endsWith(name)).map(({ body }) => JSON.parse(body));

async function moveProject(): Promise<string> {
  const project = await owner.make('/projects', { team_id: from.team, name: 'Moving' });
  await create({ project_id: project.id }, 'planted');
  await sending.work();
  endpoint.heard.splice(0);
  const moved = await owner.post(`/projects/${project.id}/transfer`, { team_id: to.team });
  expect(moved.status, moved.text).toBe(200);
  return project.id;
}

/** The events of a subject, as the installation numbers them. */
const numbersOf = (subject: string) =>
  api.rows('select type, sequence from domain_events where subject_id = ? order by sequence', [subject]);

describe('the webhook of a project that is transferred', () => {
  it('is disabled with that reason, and gets no events of the new owner until somebody enables it', async () => {
    const project = await moveProject();
    await owner.patch(`/projects/${project}`, { name: 'Moved' });
    await sending.work();
    expect(endpoint.heard).toEqual([]);
    const [planted] = (await owner.get(`/admin/webhooks?project_id=${project}`)).body.webhooks;
    expect(planted).toMatchObject({ enabled: false, disabled_reason: 'transferred' });
    await owner.patch(`/admin/webhooks/${planted.id}`, { enabled: true });
    expect(await read(planted.id)).toMatchObject({ enabled: true, disabled_reason: null });
    await owner.patch(`/projects/${project}`, { name: 'Enabled' });
    await sending.work();
    expect(heardBy('planted').map(({ type }) => type)).toEqual(['webhook.updated', 'project.updated']);
  });

  it('is disabled with an audit record and an event of the new owner, and its managers are notified', async () => {
    const project = await moveProject();
    const [{ id }] = (await owner.get(`/admin/webhooks?project_id=${project}`)).body.webhooks;
    const { body } = await to.owner.get(`/audit?action=webhook.disabled&resource_id=${id}`);
    expect(body.audit_records).toMatchObject([
      { team_id: to.team, before: { enabled: true }, after: { enabled: false, reason: 'transferred' } },
    ]);
    const events = await api.rows(
      `select team_id from domain_events where type = 'webhook.disabled' and subject_id = ?`,
      [id],
    );
    expect(events).toEqual([{ team_id: to.team }]);
  });
});

describe('the webhooks of a team that is transferred', () => {
  it('are disabled with those of its projects, and the webhooks of both organizations get the event of the transfer', async () => {
    const ofTeam = await create({ team_id: from.team });
    const ofProject = await create({ project_id: from.project });
    await create({ organization_id: from.organization }, 'former');
    await create({ organization_id: to.organization }, 'present');
    await owner.patch(from.teamPath, { slug: 'moving' });
    const moved = await owner.post(`${from.teamPath}/transfer`, { organization_id: to.organization });
    expect(moved.status, moved.text).toBe(200);
    for (const id of [ofTeam, ofProject])
      expect(await read(id)).toMatchObject({ enabled: false, disabled_reason: 'transferred' });
    await sending.work();
    for (const name of ['former', 'present'])
      expect(heardBy(name).filter(({ type }) => type === 'team.transferred')).toHaveLength(1);
  });
});

describe('the channels of a project that is transferred', () => {
  it('are disabled with that reason until somebody enables them', async () => {
    const project = await owner.make('/projects', { team_id: from.team, name: 'Moving' });
    const { path, id } = await makeChannel(owner, {
      kind: 'slack',
      config: { url: endpoint.url },
      project_id: project.id,
    });
    await owner.post(`/projects/${project.id}/transfer`, { team_id: to.team });
    expect((await owner.get(path)).body).toMatchObject({ enabled: false, disabled_reason: 'transferred' });
    const { body } = await to.owner.get(`/audit?action=notification_channel.disabled&resource_id=${id}`);
    expect(body.audit_records).toMatchObject([{ team_id: to.team, after: { enabled: false, reason: 'transferred' } }]);
    await owner.patch(path, { enabled: true });
    expect((await owner.get(path)).body).toMatchObject({ enabled: true, disabled_reason: null });
  });
});

describe('the event of a transfer', () => {
  it('is sent to the earlier and the present owner once, and leaves no gap in the numbers of the subject', async () => {
    await create({ team_id: from.team }, 'former');
    await create({ team_id: to.team }, 'present');
    const project = await moveProject();
    await owner.patch(`/projects/${project}`, { name: 'Moved' });
    await sending.work();
    const about = (name: string) => heardBy(name).filter(({ data }) => data.subject.id === project);
    const [left, ...later] = about('former');
    expect(later).toEqual([]);
    expect(left).toMatchObject({
      type: 'project.transferred',
      data: {
        ordinal: 2,
        team_id: to.team,
        details: { former_owner: { organization_id: from.organization, team_id: from.team } },
      },
    });
    const record = await from.owner.get(`/audit/${left.data.details.former_owner.audit_record_id}`);
    expect(record.body).toMatchObject({ action: 'project.transferred', team_id: from.team });
    expect(about('present').map(({ type, data }) => [type, data.ordinal])).toEqual([
      ['project.transferred', 2],
      ['project.updated', 3],
    ]);
    expect(await numbersOf(project)).toHaveLength(3);
  });
});
