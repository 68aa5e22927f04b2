import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The list that the page of the audit shows first. Nearly all newer records are denied reads, half of which name one team. */

let api: TestApi;
let tenant: Tenant;
let began: string;
let readers: Readonly<Record<string, ApiUser>>;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const [ofOrganization, ofTeam, own] = [
    await api.addUser('maintainer'),
    await api.addUser('maintainer'),
    tenant.owner,
  ];
  await join(tenant, ofOrganization, 'admin');
  await join(tenant, ofTeam, 'member', 'owner');
  readers = {
    everybody: await api.addUser('admin'),
    'an organization': ofOrganization,
    'a team': ofTeam,
    'own acts': own,
  };
  const stranger = await api.addUser('requester');
  expect((await stranger.send('PATCH', `/projects/${tenant.project}`, { name: 'x' })).status).toBe(403);
  // Records have microseconds, so the refusal can be later than the millisecond in which it was answered begins.
  began = new Date(Date.now() + 1).toISOString();
  for (let part = 0; part < 4; part++)
    await api.rows(
      `insert into audit_records (id, at, actor_id, actor_type, actor_name, credential_type, action, resource_type, resource_id,
           organization_id, team_id, is_read, outcome)
         select gen_random_uuid(), now() + n * interval '1 millisecond', ?, 'user', 'Somebody', 'api_key', 'teams.get', 'teams',
           case when n % 2 = 0 then ? else md5('thing ' || n)::uuid::text end, ?, ?, true, 'refused'
           from generate_series(1, 30000) n`,
      [own.id, tenant.team, tenant.organization, tenant.team],
    );
  await api.rows('analyze audit_records', []);
}, 240_000);
afterAll(() => api?.close());

/** The list takes about as long as one that ends before the reads. */
async function expectQuick(reader: ApiUser | undefined, filter: string): Promise<void> {
  const times: Record<string, number[]> = { after: [], before: [] };
  for (let round = 0; round < 7; round++)
    for (const [end, till] of [
      ['after', ''],
      ['before', `&to=${began}`],
    ] as const) {
      const started = performance.now();
      const answer = await reader?.get(`/audit?kind=change&limit=50${filter}${till}`);
      times[end]?.push(performance.now() - started);
      expect(answer?.body.audit_records.length).toBeGreaterThan(0);
      expect(answer?.text).not.toContain('teams.get');
    }
  const [after = 0, before = 0] = [times['after'], times['before']].map((each) => each?.sort((a, b) => a - b)[1]);
  expect(after).toBeLessThan(before * 3 + 10);
}

describe('the list of changes', () => {
  it.each(['everybody', 'an organization', 'a team', 'own acts'])(
    'is read by a reader of %s in little time although 120,000 denied reads are newer than its first change',
    (which) => expectQuick(readers[which], ''),
  );

  it('does not contain a denied read, which the list of reads contains', async () => {
    const stranger = await api.addUser('requester');
    const id = crypto.randomUUID();
    expect((await stranger.get(`/projects/${id}`)).status).toBe(404);
    expect((await stranger.send('PATCH', `/projects/${id}`, { name: 'x' })).status).toBeGreaterThan(400);
    const actionsOf = async (kind: string) =>
      (await stranger.get(`/audit?kind=${kind}`)).body.audit_records.map(({ action }: { action: string }) => action);
    expect(await actionsOf('read')).toEqual(['projects.get']);
    expect(await actionsOf('change')).not.toContain('projects.get');
  });

  it('does not contain a denied read that a process of an earlier release recorded during an upgrade', async () => {
    const reader = await api.addUser('requester');
    await api.rows(
      `insert into audit_records (id, at, actor_id, actor_type, actor_name, credential_type, action, resource_type, outcome)
       values (gen_random_uuid(), now(), ?, 'user', 'Somebody', 'api_key', 'templates.get', 'templates', 'refused')`,
      [reader.id],
    );
    const actionsOf = async (kind: string) =>
      (await reader.get(`/audit?kind=${kind}`)).body.audit_records.map(({ action }: { action: string }) => action);
    expect(await actionsOf('read')).toEqual(['templates.get']);
    expect(await actionsOf('change')).not.toContain('templates.get');
  });
});

describe('the list of changes by a filter', () => {
  beforeAll(async () => {
    for (let part = 0; part < 4; part++)
      await api.rows(
        `insert into audit_records (id, at, actor_id, actor_type, actor_name, credential_type, action, resource_type, resource_id, outcome)
         select gen_random_uuid(), now() + n * interval '1 millisecond', md5('actor ' || n % 100)::uuid, 'user', 'Somebody', 'api_key',
           'run.created', 'runs', gen_random_uuid()::text, 'committed'
           from generate_series(1, 30000) n`,
        [],
      );
    await api.rows('analyze audit_records', []);
  }, 240_000);

  it.each(['a resource', 'refusals'] as const)(
    'is read by a reader of %s in little time although there are 120,000 changes of others besides the denied reads',
    (by) => {
      const filters = { 'a resource': `resource_id=${tenant.team}`, refusals: 'outcome=refused' };
      return expectQuick(readers['everybody'], `&${filters[by]}`);
    },
  );
});
