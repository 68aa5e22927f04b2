import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import { recordMissedTimes } from '#domain/schedules/history/missed-times.ts';
import { newId } from '#domain/shared/ids.ts';
import { nextTimes } from '#domain/shared/schedules/next-times.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

const minuteMs = 60_000;
const every = { every: '1h' };

let api: TestApi;
let tenant: Tenant;
let template: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const { owner, team } = tenant;
  template = (await owner.make('/registry/templates', { name: 'History', team_id: team })).id;
  const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
  await owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
});
afterAll(() => api?.close());

/** A schedule whose history is complete until `hours` before now, and its times since then. */
async function scheduleOf(hours: number, environment = tenant.environment) {
  const run = { template_id: template, environment_id: environment, instance: `i-${newId()}` };
  const body = { team_id: tenant.team, name: 'Hourly', schedule: every, work: { run } };
  const { id } = await tenant.owner.make('/schedules', body);
  const since = new Date(Date.now() - hours * 60 * minuteMs);
  await api.rows('update schedules set accounted_until = ? where id = ?', [since, id]);
  const until = Date.now() - 12 * minuteMs;
  const times = nextTimes(every, id, since, hours + 2).filter((time) => time.getTime() <= until);
  return { id, times };
}

const fire = (id: string, at: Date) =>
  fireSchedule({ ...api.services, bindingKey: api.services.installation.bindingKey }, id, at);
const look = (now?: Date) =>
  recordMissedTimes({ em: api.services.orm.em.fork(), transactions: api.services.transactions }, now);
const resultsOf = async (id: string) => (await tenant.owner.get(`/schedules/${id}`)).body.last_results;
const eventsOf = (id: string) =>
  api.rows<{ type: string; data: object }>(
    `select type, data from domain_events where subject_id = ? and type like 'schedule.%' order by sequence`,
    [id],
  );
const at = (time: Date | undefined) => time?.toISOString();

describe('missed times of a schedule', () => {
  it('are recorded as one result with their number, and one event', async () => {
    const { id, times } = await scheduleOf(9);
    await look();
    const missed = {
      scheduled_at: at(times[0]),
      last_at: at(times.at(-1)),
      times: times.length,
      outcome: 'missed',
      reason: 'not_tried',
      message: expect.stringContaining('workers were down'),
    };
    expect(await resultsOf(id)).toMatchObject([missed]);
    const data = { scheduled_at: at(times[0]), last_at: at(times.at(-1)), times: times.length };
    expect((await eventsOf(id)).filter(({ type }) => type === 'schedule.missed')).toMatchObject([{ data }]);
    await look();
    expect(await resultsOf(id), 'once').toMatchObject([missed]);
  });

  it('missed times before and after a start are two results', async () => {
    const { id, times } = await scheduleOf(7);
    await fire(id, times[3]!);
    await look();
    expect(await resultsOf(id)).toMatchObject([
      { outcome: 'missed', scheduled_at: at(times[4]), times: times.length - 4 },
      { outcome: 'started', scheduled_at: at(times[3]), times: 1 },
      { outcome: 'missed', scheduled_at: at(times[0]), last_at: at(times[2]), times: 3 },
    ]);
  });

  it('are added to the previous result', async () => {
    const { id, times } = await scheduleOf(3);
    await look();
    await look(new Date(Date.now() + 2 * 60 * minuteMs));
    expect(await resultsOf(id)).toMatchObject([{ outcome: 'missed', times: times.length + 2 }]);
  });

  it('are not started later', async () => {
    const { id, times } = await scheduleOf(4);
    await look();
    for (const time of times) await fire(id, time);
    expect(await resultsOf(id)).toMatchObject([{ outcome: 'missed', times: times.length }]);
  });

  it('do not include times that have a result, were skipped, or are younger than twelve minutes', async () => {
    const { id, times } = await scheduleOf(5);
    for (const time of times) await fire(id, time);
    await look();
    expect((await resultsOf(id)).map(({ outcome }: { outcome: string }) => outcome)).toEqual(['skipped', 'started']);
    const young = await scheduleOf(1);
    const [next] = nextTimes(every, young.id, new Date(), 1);
    await look(new Date((next?.getTime() ?? 0) + 11 * minuteMs));
    const last = (await resultsOf(young.id))[0];
    expect(last?.last_at).not.toBe(at(next));
  });

  it('do not include times while the schedule was paused or its team was archived', async () => {
    const { id } = await scheduleOf(6);
    await tenant.owner.patch(`/schedules/${id}`, { enabled: false });
    await look();
    await tenant.owner.patch(`/schedules/${id}`, { enabled: true });
    await look();
    expect(await resultsOf(id)).toEqual([]);
    const body = { project_id: tenant.project, name: 'resting', kind: 'development' };
    const environment = (await tenant.owner.make('/environments', body)).id;
    const archived = await scheduleOf(6, environment);
    const path = `/environments/${environment}`;
    expect((await tenant.owner.post(`${path}/archive`)).status).toBe(200);
    await look();
    expect((await tenant.owner.post(`${path}/unarchive`)).status).toBe(200);
    await look();
    expect(await resultsOf(archived.id)).toEqual([]);
  });

  it('do not include times from before a change of the schedule', async () => {
    const { id } = await scheduleOf(6);
    await tenant.owner.patch(`/schedules/${id}`, { schedule: { every: '30m' } });
    await look();
    expect(await resultsOf(id)).toEqual([]);
  });

  it('are recorded once by many workers at the same time', async () => {
    const { id, times } = await scheduleOf(8);
    await Promise.all([1, 2, 3, 4].map(() => look()));
    expect(await resultsOf(id)).toMatchObject([{ outcome: 'missed', times: times.length }]);
  });
});

describe('consecutive refusals of a schedule', () => {
  it('consecutive refusals with the same message are one result', async () => {
    const { id } = await scheduleOf(0);
    await api.rows(`update schedules set authority_id = gen_random_uuid() where id = ?`, [id]);
    const start = Date.now();
    for (let hour = 1; hour <= 3; hour += 1) await fire(id, new Date(start + hour * 60 * minuteMs));
    expect(await resultsOf(id)).toMatchObject([{ outcome: 'failed', reason: 'authority_gone', times: 3 }]);
    expect((await eventsOf(id)).filter(({ type }) => type === 'schedule.failed')).toHaveLength(3);
  });
});
