import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addRuns } from '#test/support/runs/run-rows.ts';

let api: TestApi;
let admin: ApiUser;
let here: Tenant;
let there: Tenant;
let member: ApiUser;
let unscoped: string;
/** The ids of each tenant's runs, newest first. */
let ours: string[];
let theirs: string[];
const templates: Record<string, string> = {};

const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };
const hours = (count: number) => new Date(Date.UTC(2026, 0, 1, count)).toISOString();

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  [here, there] = [await makeTenant(api), await makeTenant(api)];
  member = await api.addUser('requester');
  await join(here, member, 'member', 'viewer');
  ours = await addTenantRuns(here);
  theirs = await addTenantRuns(there);
  const { id } = await admin.make('/registry/templates', { name: 'Everywhere' });
  await admin.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  unscoped = (await admin.post('/runs', { template_id: id })).body.id;
});
afterAll(() => api?.close());

/** Eight runs of one tenant, an hour apart, of which the newest two are unfinished. Returns their ids, newest first. */
async function addTenantRuns(tenant: Tenant): Promise<string[]> {
  const { id } = await tenant.owner.make('/registry/templates', { name: 'Ours', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  templates[tenant.team] = id;
  const { body: run } = await tenant.owner.post('/runs', { template_id: id, environment_id: tenant.environment });
  const ids = await addRuns(api, run.id, [
    { status: 'succeeded', createdAt: hours(0) },
    { status: 'failed', createdAt: hours(1), operation: 'destroy' },
    { status: 'canceled', createdAt: hours(2) },
    { status: 'failed', createdAt: hours(3), requestedBy: member.id },
    { status: 'timed_out', createdAt: hours(4) },
    { status: 'succeeded', createdAt: hours(5), operation: 'plan' },
    { status: 'running', createdAt: hours(6) },
  ]);
  return [run.id, ...ids.reverse()];
}

const listed = async (user: ApiUser, query: string): Promise<string[]> => {
  const { status, body, text } = await user.get(`/runs?${query}`);
  expect(status, `${query}: ${text}`).toBe(200);
  return body.runs.map(({ id }: { id: string }) => id);
};

/** Reads a list page by page. */
async function paged(user: ApiUser, query: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await user.get(`/runs?${query}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
    ids.push(...body.runs.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor;
  }
  return ids;
}

const at = (ids: string[], ...places: number[]) => places.map((place) => ids[place]);

describe('a list of runs', () => {
  it('is narrowed to unfinished runs that wait for something, of any status or of a named one', async () => {
    const team = `team_id=${here.team}`;
    const waitFor = (id: string | undefined, code: string) =>
      api.rows(
        `update runs set waiting_on = jsonb_build_object('code', ?::text, 'since', now(), 'position', null, 'blocker', null) where id = ? returning id`,
        [code, id],
      );
    await waitFor(ours[0], 'quota');
    await waitFor(ours[1], 'no_worker');
    await waitFor(ours[2], 'no_worker');
    expect(await listed(here.owner, `${team}&waiting_on=no_worker`)).toEqual(at(ours, 1));
    expect(await listed(here.owner, `${team}&waiting_on=no_worker&waiting_on=quota`)).toEqual(at(ours, 0, 1));
    expect(await listed(here.owner, `${team}&waiting_on=no_worker&waiting_on=quota&status=queued`)).toEqual(
      at(ours, 0),
    );
    expect(await listed(here.owner, `${team}&waiting_on=no_worker&status=succeeded`)).toEqual([]);
    expect(await listed(there.owner, `team_id=${there.team}&waiting_on=quota`)).toEqual([]);
    expect((await here.owner.get(`/runs?${team}&waiting_on=rain`)).status).toBe(400);
  });

  it('is narrowed by several statuses, of finished and of unfinished runs', async () => {
    const team = `team_id=${here.team}`;
    expect(await listed(here.owner, `${team}&status=failed`)).toEqual(at(ours, 4, 6));
    expect(await listed(here.owner, `${team}&status=failed&status=running`)).toEqual(at(ours, 1, 4, 6));
    expect(await listed(here.owner, `${team}&status=failed&status=failed&status=queued`)).toEqual(at(ours, 0, 4, 6));
    const { status, body } = await here.owner.get(`/runs?${team}&status=failed,running`);
    expect([status, body.error]).toEqual([400, expect.stringContaining('status')]);
  });

  it('is narrowed by the operation, the requester and the template', async () => {
    const team = `team_id=${here.team}`;
    expect(await listed(here.owner, `${team}&operation=destroy`)).toEqual(at(ours, 6));
    expect(await listed(here.owner, `${team}&operation=apply&status=failed`)).toEqual(at(ours, 4));
    expect(await listed(here.owner, `${team}&requested_by=${member.id}`)).toEqual(at(ours, 4));
    expect(await listed(here.owner, `${team}&template_id=${templates[here.team]}`)).toEqual(ours);
    expect(await listed(here.owner, `${team}&template_id=${templates[there.team]}`)).toEqual([]);
  });

  it('is narrowed by the time of admission, from its first moment to before its last', async () => {
    const query = `team_id=${here.team}&from=${hours(2)}&to=${hours(5)}`;
    expect(await listed(here.owner, query)).toEqual(at(ours, 3, 4, 5));
    expect(await listed(here.owner, `team_id=${here.team}&to=2026-01-02`)).toEqual(ours.slice(1));
    expect(
      await listed(
        here.owner,
        `team_id=${here.team}&from=${encodeURIComponent('2026-01-01T08:00:00+03:00')}&to=${hours(6)}`,
      ),
    ).toEqual(at(ours, 2));
    const { status, body } = await here.owner.get(`/runs?from=${hours(5)}&to=${hours(5)}`);
    expect([status, body.error]).toEqual([400, expect.stringContaining('`from` must be before `to`')]);
  });

  it('a list of runs of an organization holds the runs of its teams that the caller may read', async () => {
    const query = `organization_id=${here.organization}`;
    expect(await listed(here.owner, query)).toEqual(ours);
    expect(await listed(member, query)).toEqual(ours);
    expect(await listed(admin, query)).toEqual(ours);
    const second = await here.owner.make(`/organizations/${here.organization}/teams`, { name: 'Second' });
    await api.rows('update runs set team_id = ? where id = ?', [second.id, ours[3] ?? '']);
    expect(await listed(here.owner, query)).toEqual(ours);
    expect(await paged(here.owner, query, 3)).toEqual(ours);
    expect(await listed(member, query)).toEqual(ours.filter((id) => id !== ours[3]));
    await api.rows('update runs set team_id = ? where id = ?', [here.team, ours[3] ?? '']);
  });

  it('a list of runs with scope=readable holds everything that the caller may read, and runs of no team', async () => {
    expect(await listed(member, 'scope=readable')).toEqual([unscoped, ...ours]);
    expect(await paged(member, 'scope=readable&status=failed&status=succeeded&status=running', 2)).toEqual(
      at(ours, 1, 2, 4, 6, 7),
    );
    const all = await paged(admin, 'scope=readable', 3);
    expect([...all].sort()).toEqual([unscoped, ...ours, ...theirs].sort());
    expect(all).toEqual([...all].sort().reverse());
    expect(await listed(admin, 'scope=readable&operation=destroy')).toEqual([theirs[6], ours[6]].sort().reverse());
    expect(await listed(await api.addUser('requester'), 'scope=readable')).toEqual([unscoped]);
  });

  it('a list of runs without an owner holds only the runs of no team', async () => {
    expect(await listed(admin, '')).toEqual([unscoped]);
    const scopeOf = async (query: string) => (await admin.get(`/runs?${query}`)).body.scope;
    expect([await scopeOf(''), await scopeOf('scope=readable')]).toEqual(['unscoped', 'readable']);
    expect(await listed(admin, `requested_by=${here.owner.id}`)).toEqual([]);
    for (const path of ['/runs', '/runs/statistics']) {
      const hintOf = async (query: string) => (await admin.get(`${path}?${query}`)).body.hint;
      expect(await hintOf('')).toContain('send scope=readable for all runs that you may read');
      expect([await hintOf('scope=readable'), await hintOf(`team_id=${here.team}`)]).toEqual([undefined, undefined]);
    }
  });

  it('answers 400 to owners that contradict each other, if the caller may read both', async () => {
    const environment = there.environment;
    for (const query of [
      `team_id=${here.team}&environment_id=${environment}`,
      `team_id=${here.team}&organization_id=${there.organization}`,
      `environment_id=${environment}&organization_id=${here.organization}`,
    ]) {
      const { status, body } = await admin.get(`/runs?${query}`);
      expect([status, body.error], query).toEqual([400, expect.stringContaining('have different owners')]);
      expect((await here.owner.get(`/runs?${query}`)).status, query).toBe(404);
    }
    const agreeing = `team_id=${here.team}&environment_id=${here.environment}&organization_id=${here.organization}`;
    expect(await listed(here.owner, agreeing)).toEqual(ours);
  });

  it('answers 404 to an owner that is hidden from the caller or does not exist', async () => {
    for (const name of ['team_id', 'organization_id', 'environment_id', 'instance_id'])
      expect((await admin.get(`/runs?${name}=${randomUUID()}`)).status, name).toBe(404);
    for (const query of [`team_id=${there.team}`, `organization_id=${there.organization}`])
      expect((await here.owner.get(`/runs?${query}`)).status, query).toBe(404);
  });
});
