import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addRuns } from '#test/support/runs/run-rows.ts';

let api: TestApi;
let admin: ApiUser;
let here: Tenant;
let there: Tenant;
let templateId: string;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  [here, there] = [await makeTenant(api), await makeTenant(api)];
  templateId = await addTenantRuns(here);
  await addTenantRuns(there);
});
afterAll(() => api?.close());

async function addTenantRuns(tenant: Tenant): Promise<string> {
  const { id } = await tenant.owner.make('/registry/templates', { name: 'Ours', team_id: tenant.team });
  const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };
  await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  const { body: run } = await tenant.owner.post('/runs', { template_id: id, environment_id: tenant.environment });
  await addRuns(api, run.id, [
    { status: 'succeeded', createdAt: '2026-03-28T22:30:00Z', seconds: 10 },
    { status: 'succeeded', createdAt: '2026-03-28T23:30:00Z', seconds: 20 },
    { status: 'failed', createdAt: '2026-03-29T21:30:00Z', seconds: 30 },
    { status: 'running', createdAt: '2026-03-29T22:30:00Z' },
    { status: 'timed_out', createdAt: '2026-03-31T12:00:00Z', seconds: 50, operation: 'destroy' },
  ]);
  return id;
}

const read = async (user: ApiUser, query: string) => {
  const { status, body, text } = await user.get(`/runs/statistics?${query}`);
  expect(status, `${query}: ${text}`).toBe(200);
  return body;
};

const none = { succeeded: 0, failed: 0, canceled: 0, timed_out: 0, unfinished: 0, median_seconds: null };
const march = 'from=2026-03-28&to=2026-04-01';

describe('statistics of runs', () => {
  it('count the runs of each day by outcome, and have an entry for days without runs', async () => {
    const body = await read(here.owner, `team_id=${here.team}&${march}`);
    expect(body).toMatchObject({ from: '2026-03-28T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z', time_zone: 'UTC' });
    expect(body.days).toEqual([
      { ...none, date: '2026-03-28', succeeded: 2, median_seconds: 15 },
      { ...none, date: '2026-03-29', failed: 1, unfinished: 1, median_seconds: 30 },
      { ...none, date: '2026-03-30' },
      { ...none, date: '2026-03-31', timed_out: 1, median_seconds: 50 },
    ]);
    expect(body.total).toEqual({ ...none, succeeded: 2, failed: 1, timed_out: 1, unfinished: 1, median_seconds: 25 });
  });

  it('have the same counts if the request excludes medians', async () => {
    const query = `team_id=${here.team}&${march}`;
    const { total, days } = await read(here.owner, query);
    const without = await read(here.owner, `${query}&medians=false`);
    expect(without.total).toEqual({ ...total, median_seconds: null });
    expect(without.days).toEqual(days.map((day: object) => ({ ...day, median_seconds: null })));
    const nothing = await read(here.owner, `team_id=${here.team}&from=2020-01-01&to=2020-01-02&medians=false`);
    expect(nothing.total).toEqual(none);
  });

  it('have medians in whole milliseconds', async () => {
    const { body } = await here.owner.get(`/runs?team_id=${here.team}&limit=1`);
    const row = { status: 'succeeded', createdAt: '2026-05-05T10:00:00Z' };
    await addRuns(api, body.runs[0].id, [
      { ...row, seconds: 4.94 },
      { ...row, seconds: 4.943 },
      { ...row, seconds: 4.942 },
      { ...row, seconds: 4.941 },
    ]);
    const { total } = await read(here.owner, `team_id=${here.team}&from=2026-05-05&to=2026-05-06`);
    expect(total.median_seconds).toBe(4.942);
  });

  it('begin their days in the time zone of the request, even when daylight saving time begins', async () => {
    const { from, to, days } = await read(here.owner, `team_id=${here.team}&${march}&time_zone=Europe/Berlin`);
    expect([from, to]).toEqual(['2026-03-27T23:00:00.000Z', '2026-03-31T22:00:00.000Z']);
    expect(days).toEqual([
      { ...none, date: '2026-03-28', succeeded: 1, median_seconds: 10 },
      { ...none, date: '2026-03-29', succeeded: 1, failed: 1, median_seconds: 25 },
      { ...none, date: '2026-03-30', unfinished: 1 },
      { ...none, date: '2026-03-31', timed_out: 1, median_seconds: 50 },
    ]);
  });

  it('accept the filters and scopes of the list of runs', async () => {
    const total = async (user: ApiUser, query: string) => (await read(user, `${query}&${march}`)).total;
    const team = `team_id=${here.team}`;
    expect(await total(here.owner, `${team}&operation=destroy`)).toEqual({ ...none, timed_out: 1, median_seconds: 50 });
    expect(await total(here.owner, `${team}&status=failed&status=running`)).toEqual({
      ...none,
      failed: 1,
      unfinished: 1,
      median_seconds: 30,
    });
    expect(await total(here.owner, `template_id=${templateId}&scope=readable&status=succeeded`)).toMatchObject({
      succeeded: 2,
    });
    expect(await total(admin, 'scope=readable')).toMatchObject({ succeeded: 4, unfinished: 2 });
    expect(await total(admin, `organization_id=${there.organization}`)).toMatchObject({ succeeded: 2 });
    expect(await total(admin, '')).toEqual(none);
    const member = await api.addUser('requester');
    await join(here, member, 'member', 'viewer');
    expect(await total(member, 'scope=readable')).toMatchObject({ succeeded: 2, failed: 1 });
    expect(await total(member, `organization_id=${here.organization}`)).toMatchObject({ succeeded: 2, failed: 1 });
    expect((await member.get(`/runs/statistics?team_id=${there.team}`)).status).toBe(404);
  });

  it.each([
    ['a day', '2026-04-01', ''],
    ['midnight', '2026-04-01T00:00:00Z', ''],
    ['midnight in its time zone', '2026-04-01T00:00:00%2B02:00', '&time_zone=Europe/Berlin'],
    ['a time of day', '2026-03-31T15:00:00Z', ''],
  ])('cover the 30 days before `to`: %s', async (_what, to, zone) => {
    const { days } = await read(here.owner, `team_id=${here.team}&to=${to}${zone}`);
    expect([days.length, days.at(0).date, days.at(-1).date]).toEqual([30, '2026-03-02', '2026-03-31']);
  });

  it('cover the last 30 days by default, today included', async () => {
    const { days, total, to } = await read(here.owner, `team_id=${here.team}`);
    expect(days).toHaveLength(30);
    expect(days.at(-1).date).toBe(to.slice(0, 10));
    expect(total.unfinished).toBe(1);
  });

  it.each([
    ['from=0001-02-01&to=0001-03-01', '0001-02-01T00:00:00.000Z', '0001-02-01', '0001-02-28'],
    ['from=9999-12-01&to=9999-12-31', '9999-12-01T00:00:00.000Z', '9999-12-01', '9999-12-30'],
  ])('statistics of runs of %s have the years that the request names', async (query, from, first, last) => {
    const body = await read(admin, query);
    expect([body.from, body.days.at(0).date, body.days.at(-1).date]).toEqual([from, first, last]);
  });

  it.each([
    ['from=2026-03-02&to=2026-03-01', '`from` must be before `to`'],
    ['from=2025-01-01&to=2026-03-01', 'at most 366 days'],
    ['time_zone=Mars/Olympus', 'there is no time zone "Mars/Olympus"'],
    ['time_zone=FOO%2B3', 'there is no time zone "FOO+3"'],
    ['time_zone=%2B03:00', 'there is no time zone "+03:00"'],
    ['from=yesterday', 'from'],
    ['from=0001-01-01T00:00:00%2B23:59', 'in the years 0001 to 9999 of UTC'],
    ['to=9999-12-31T23:59:59-23:59', 'in the years 0001 to 9999 of UTC'],
    ['from=0001-01-01&to=0001-02-01&time_zone=Asia/Tokyo', 'from 0001-01-02'],
    ['from=9999-12-01&to=9999-12-31&time_zone=America/New_York', 'to 9999-12-31'],
    ['to=0001-01-05', 'from 0001-01-02'],
  ])('answer 400 to %s', async (query, message) => {
    const { status, body } = await admin.get(`/runs/statistics?${query}`);
    expect([status, body.error]).toEqual([400, expect.stringContaining(message)]);
  });
});
