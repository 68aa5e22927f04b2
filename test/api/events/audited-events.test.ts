import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { asInApi } from '#domain/shared/naming/api-names.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The events of actions for which no area declares one. */
let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  [admin, tenant] = [await api.addUser('admin'), await makeTenant(api)];
});
afterAll(() => api?.close());

const eventsOf = (type: string, subject: string) =>
  api.rows<{ sequence: number; changed: string[] }>(
    `select sequence, data->'changed' as changed from domain_events where type = ? and subject_id = ? order by sequence`,
    [type, subject],
  );
const lastRecord = async (action: string, id: string) =>
  (await tenant.owner.get(`/audit?action=${action}&resource_id=${id}`)).body.audit_records[0];

it('one change of the settings publishes one event', async () => {
  const before = await api.rows(`select id from domain_events where type like 'settings.%'`);
  expect((await admin.patch('/admin/settings', { sign_in_notice: `Notice ${newId()}` })).status).toBe(200);
  const after = await api.rows(
    `select type, data->'changed' as changed from domain_events where type like 'settings.%'`,
  );
  expect(after).toHaveLength(before.length + 1);
  expect(after.at(-1)).toEqual({ type: 'settings.changed', changed: ['sign_in_notice'] });
});

it("all events of the installation's quota have the same subject", async () => {
  const path = '/admin/quotas/installation/global';
  for (const templates of [1000, 1001]) expect((await admin.put(path, { limits: { templates } })).status).toBe(200);
  expect((await admin.delete(path)).status).toBe(204);
  const events = await api.rows(
    `select type, sequence, subject_id = (select id from installation) as "isInstallation" from domain_events
      where subject_kind = 'quota' order by sequence`,
  );
  expect(events).toEqual([
    { type: 'quota.set', sequence: 1, isInstallation: true },
    { type: 'quota.set', sequence: 2, isInstallation: true },
    { type: 'quota.cleared', sequence: 3, isInstallation: true },
  ]);
});

it('all events of a worker pool, which has a name and no id, have the same subject', async () => {
  await admin.make('/worker-pools', { name: 'stable' });
  expect((await admin.delete('/worker-pools/stable')).status).toBe(204);
  const events = await api.rows(
    `select type, sequence from domain_events where data->'resource'->>'id' = 'stable' order by sequence`,
  );
  expect(events).toEqual([
    { type: 'worker_pool.created', sequence: 1 },
    { type: 'worker_pool.deleted', sequence: 2 },
  ]);
});

it('the event of a change names only changed fields of the API, and a request without changes publishes none', async () => {
  const { owner, team } = tenant;
  const hook = { team_id: team, name: 'Hook', url: 'http://127.0.0.1:9/secret-path', events: ['run.*'] };
  const { id } = await owner.make('/admin/webhooks', hook);
  const path = `/admin/webhooks/${id}`;
  for (const change of [
    {},
    { name: 'Hook' },
    { url: 'http://127.0.0.1:9/another-path' },
    { name: 'Other', enabled: true },
  ])
    expect((await owner.patch(path, change)).status).toBe(200);
  expect((await eventsOf('webhook.updated', id)).map(({ changed }) => changed)).toEqual([['url'], ['name']]);
  const { body } = await owner.get(`/audit?action=webhook.updated&resource_id=${id}`);
  const moved = body.audit_records.find(({ after }: { after: object }) => 'url' in after);
  expect(moved.before.url.host).toBe('127.0.0.1:9');
  expect(moved.after.url.digest).not.toBe(moved.before.url.digest);
  expect(JSON.stringify(body)).not.toMatch(/secret-path|another-path/);
});

it('a request for a state that already exists publishes no event', async () => {
  const { owner, organization, team, project, environment } = tenant;
  const variables = [{ name: 'REGION', value: 'eu', category: 'env' }];
  const teamPath = `/organizations/${organization}/teams/${team}`;
  const template = await owner.make('/registry/templates', { name: 'Same', team_id: team, description: 'Same' });
  const assembly = await owner.make('/assemblies', { name: 'Same', team_id: team });
  const account = await owner.make('/service-accounts', { name: 'Same', role: 'requester', owner: { team_id: team } });
  const paths = [
    `/registry/templates/${template.id}`,
    `/assemblies/${assembly.id}`,
    `/environments/${environment}`,
    `/projects/${project}`,
    teamPath,
    `/organizations/${organization}`,
  ];
  const requests = [
    () => owner.put(`/environments/${environment}/variables`, { variables }),
    () => owner.put(`/environments/${environment}/connections`, {}),
    () => admin.put(`/admin/quotas/team/${team}`, { limits: { instances: 3 } }),
    () => owner.post('/notifications/read-all'),
    () => admin.put(`/organizations/${organization}/members/${admin.id}`, { role: 'member' }),
    () => owner.post(`/service-accounts/${account.id}/disable`),
    () => owner.post(`/service-accounts/${account.id}/enable`),
    () => owner.patch(`/registry/templates/${template.id}`, { description: 'Same' }),
    () => owner.patch(`/assemblies/${assembly.id}`, {}),
    ...paths.map((path) => () => owner.post(`${path}/archive`)),
    ...paths.toReversed().map((path) => () => owner.post(`${path}/unarchive`)),
  ];
  const countEvents = async () => (await api.rows('select id from domain_events')).length;
  for (const [index, send] of requests.entries()) {
    const first = await send();
    expect(first.status, `${index}: ${JSON.stringify(first.body)}`).toBe(200);
    const before = await countEvents();
    expect((await send()).status).toBe(200);
    expect(await countEvents(), `request ${index}`).toBe(before);
  }
});

it('records of the audit have names in snake case at every level, even records of earlier releases', async () => {
  const { owner, environment, team } = tenant;
  const credentials = { variables: { TOKEN: 'secret' } };
  const connection = await owner.make('/admin/connections', {
    name: 'Any',
    kind: 'generic',
    team_id: team,
    credentials,
  });
  await owner.put(`/environments/${environment}/connections`, { cloud: { connection_id: connection.id } });
  const bound = await lastRecord('environment.connections_bound', environment);
  expect(bound.after.connections.cloud).toMatchObject({ connection_id: connection.id });
  await api.rows('update audit_records set after = ? where id = ?', [
    JSON.stringify({ connections: { cloud: { connectionId: connection.id } } }),
    bound.id,
  ]);
  expect((await owner.get(`/audit/${bound.id}`)).body.after).toEqual({
    connections: { cloud: { connection_id: connection.id } },
  });
});

it('names that users chose are unchanged in records of the audit', () => {
  const at = '2026-01-02 03:04:05+00';
  expect(asInApi({ teamId: 'x', orgID: 'y', variables: { mySize: { hasIt: 1 } }, lock: { untilAt: at } })).toEqual({
    team_id: 'x',
    org_id: 'y',
    variables: { mySize: { hasIt: 1 } },
    lock: { until_at: '2026-01-02T03:04:05.000Z' },
  });
  expect(asInApi({ variables: [{ name: 'mySize', hasPlanValue: true }] })).toEqual({
    variables: [{ name: 'mySize', has_plan_value: true }],
  });
});

it('the event of a changed channel names the changed fields', async () => {
  const { owner, team } = tenant;
  const config = { recipients: ['ops@example.com'] };
  const { id } = await owner.make('/admin/notification-channels', {
    name: 'Ops',
    kind: 'email',
    team_id: team,
    config,
  });
  const path = `/admin/notification-channels/${id}`;
  await owner.patch(path, {});
  expect((await owner.patch(path, { config: { recipients: ['night@example.com'] } })).status).toBe(200);
  expect((await eventsOf('notification_channel.updated', id)).map(({ changed }) => changed)).toEqual([['config']]);
  await owner.patch(path, { subscriptions: [{ team_id: team, events: ['*'] }] });
  expect((await lastRecord('notification_channel.updated', id)).after).toEqual({
    subscriptions: [{ team_id: team, environment_id: null, events: ['*'] }],
  });
});
