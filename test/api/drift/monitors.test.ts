import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handleDriftEvent } from '#domain/drift/follow-events.ts';
import { readEvent } from '#domain/shared/events/event-store.ts';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';
import { keepUpDrift } from '#worker/background/drift-upkeep.ts';

let api: TestApi;
let stage: DriftStage;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
});
afterAll(() => api?.close());

const schedule = { every: 'PT6H' };
const monitorOf = async (instance: string) =>
  (await stage.tenant.owner.get(`/drift-monitors?instance_id=${instance}`)).body.drift_monitors;

/** Delivers the latest event about a monitor. */
async function deliver(monitor: string): Promise<void> {
  const { orm, transactions } = api.services;
  const [{ id } = { id: '' }] = await api.rows<{ id: string }>(
    'select id from domain_events where subject_id = ? order by sequence desc limit 1',
    [monitor],
  );
  const event = await readEvent(orm.em.fork(), id);
  await handleDriftEvent({ orm, transactions }, event!);
}

it('fifty requests at once create one monitor of an instance: one answers 201, and the others 409', async () => {
  const { instance } = await stage.deploy();
  const create = () => stage.tenant.owner.post('/drift-monitors', { instance_id: instance, schedule });
  const answers = await sendAtOnce(50, create);
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(49);
  expect(await monitorOf(instance)).toHaveLength(1);
});

it('creating a monitor without a subject, or with two, answers 400', async () => {
  const { instance } = await stage.deploy();
  const { environment } = stage.tenant;
  for (const body of [{}, { instance_id: instance, environment_id: environment }])
    expect((await stage.tenant.owner.post('/drift-monitors', { ...body, schedule })).status).toBe(400);
});

it('the findings of a deleted monitor are not listed, and its instance can have another monitor', async () => {
  const { instance } = await stage.deploy();
  const { body: first } = await stage.tenant.owner.post('/drift-monitors', { instance_id: instance, schedule });
  expect((await stage.tenant.owner.delete(`/drift-monitors/${first.id}`)).status).toBe(204);
  expect((await stage.tenant.owner.get(`/drift-monitors/${first.id}`)).status).toBe(404);
  expect((await stage.tenant.owner.post('/drift-monitors', { instance_id: instance, schedule })).status).toBe(201);
});

it('changing a monitor with a stale revision answers 409', async () => {
  const { monitor } = await stage.watched();
  const path = `/drift-monitors/${monitor}`;
  expect((await stage.tenant.owner.patch(path, { enabled: false, expected_revision: 1 })).body.enabled).toBe(false);
  expect((await stage.tenant.owner.patch(path, { enabled: true, expected_revision: 1 })).status).toBe(409);
});

describe('the monitor of an environment', () => {
  it('gives its deployed instances monitors that change and end with it', async () => {
    const other = await makeDriftStage(api);
    const { owner, environment } = other.tenant;
    const read = async (instance: string) =>
      (await owner.get(`/drift-monitors?instance_id=${instance}`)).body.drift_monitors;
    const { instance: early } = await other.deploy();
    const { body: parent } = await owner.post('/drift-monitors', { environment_id: environment, schedule });
    await deliver(parent.id);
    const [inherited] = await read(early);
    expect(inherited).toMatchObject({ inherited_from: parent.id, schedule, enabled: true });
    const { instance: late } = await other.deploy();
    const { orm, transactions, installation, log } = api.services;
    await keepUpDrift({ orm, transactions, log, bindingKey: installation.bindingKey });
    expect(await read(late)).toMatchObject([{ inherited_from: parent.id }]);
    await owner.patch(`/drift-monitors/${parent.id}`, { enabled: false });
    await deliver(parent.id);
    expect(await read(late)).toMatchObject([{ enabled: false }]);
    expect((await owner.delete(`/drift-monitors/${inherited.id}`)).headers['x-error-code']).toBe(
      'drift_monitor_inherited',
    );
    await owner.delete(`/drift-monitors/${parent.id}`);
    expect(await read(early)).toEqual([]);
  });

  it('does not change an inherited monitor that somebody has changed', async () => {
    const other = await makeDriftStage(api);
    const { owner, environment } = other.tenant;
    const { instance } = await other.deploy();
    const { body: parent } = await owner.post('/drift-monitors', { environment_id: environment, schedule });
    await deliver(parent.id);
    const [inherited] = (await owner.get(`/drift-monitors?instance_id=${instance}`)).body.drift_monitors;
    await owner.patch(`/drift-monitors/${inherited.id}`, { schedule: { every: 'P1D' } });
    await owner.patch(`/drift-monitors/${parent.id}`, { enabled: false });
    await deliver(parent.id);
    expect((await owner.get(`/drift-monitors/${inherited.id}`)).body).toMatchObject({
      enabled: true,
      inherited_from: null,
      schedule: { every: 'P1D' },
    });
  });
});
