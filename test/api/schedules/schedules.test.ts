import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findStoredPrincipal } from '#domain/identity/stored-authority.ts';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import { lockPlanned } from '#domain/schedules/planned-store.ts';
import { startWork } from '#domain/schedules/start-work.ts';
import { findSchedule } from '#domain/schedules/store.ts';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let template: string;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = await publish({ token: { type: 'string', writeOnly: true }, size: { type: 'integer' } });
});
afterAll(() => api?.close());

async function publish(properties: object = {}, team = tenant.team): Promise<string> {
  const { id } = await tenant.owner.make('/registry/templates', { name: `T ${newId()}`, team_id: team });
  const step = [{ name: 'go', run: ['true'] }];
  const spec = { variables: { type: 'object', properties }, executor: { kind: 'command', apply: step, destroy: step } };
  const { status, text } = await tenant.owner.post(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  expect(status, text).toBe(201);
  return id;
}

const workOf = (run: object = {}) => ({
  run: { template_id: template, environment_id: tenant.environment, instance: `i-${newId()}`, ...run },
});
const create = (body: object = {}, owner: ApiUser = tenant.owner) =>
  owner.post('/schedules', {
    team_id: tenant.team,
    name: 'Every Monday',
    schedule: { cron: '0 18 * * MON', timezone: 'Europe/Berlin' },
    work: workOf(),
    ...body,
  });
const read = async (id: string) => (await tenant.owner.get(`/schedules/${id}`)).body;
const deps = () => ({ ...api.services, bindingKey: api.services.installation.bindingKey });
const fire = (id: string, at = new Date()): Promise<void> => fireSchedule(deps(), id, at);
/** Nothing delivers the messages to the engine here, so they stay in the outbox. */
const messagesOf = async (id: string) => {
  const sql = 'select payload from outbox where target = ? order by id';
  return (await api.rows<{ payload: object }>(sql, [`schedule/${id}`])).map(({ payload }) => payload);
};

interface Audited {
  readonly work: { readonly variables: { readonly digest: string } };
}

async function made(body: object = {}, owner?: ApiUser): Promise<string> {
  const { status, body: schedule, text } = await create(body, owner);
  expect(status, text).toBe(201);
  return schedule.id;
}

describe('a schedule', () => {
  it('is created with its next times, and starts in the engine', async () => {
    const { status, body, headers } = await create();
    expect(status).toBe(201);
    expect(headers['location']).toBe(`/api/v1/schedules/${body.id}`);
    expect(body.next_times).toHaveLength(5);
    expect(new Date(body.next_times[0]).getUTCDay()).toBe(1);
    expect(body).toMatchObject({ enabled: true, authority: { id: tenant.owner.id }, last_results: [], revision: 1 });
    expect(body.actions.map(({ allowed }: { allowed: boolean }) => allowed)).toEqual([true, true, true]);
    expect(await messagesOf(body.id)).toEqual([
      expect.objectContaining({ kind: 'schedule_upsert', schedule: expect.objectContaining({ isPaused: false }) }),
    ]);
  });

  it('records in the audit all fields that determine its work', async () => {
    const id = await made({ work: workOf({ version: '1.0.0', variables: { size: 3 } }) });
    const { work } = await read(id);
    const other = await api.addUser('maintainer');
    await join(tenant, other, 'member', 'admin');
    const changed = { run: { ...work.run, instance: 'elsewhere', variables: { size: 4 } } };
    expect((await other.patch(`/schedules/${id}`, { work: changed })).status).toBe(200);
    const [record] = await api.rows<{ before: Audited; after: Audited }>(
      `select before, after from audit_records where resource_id = ? and action = 'schedule.updated'`,
      [id],
    );
    expect(record?.before.work).toMatchObject({
      kind: 'run',
      template_id: template,
      version: '1.0.0',
      variables: { names: ['size'] },
    });
    expect(record?.after).toMatchObject({
      work: { instance: 'elsewhere', variables: { names: ['size'] } },
      authority: { id: other.id },
      work_saved: true,
    });
    expect(record?.after.work.variables.digest).not.toBe(record?.before.work.variables.digest);
  });

  it('is found in the list by the principal under whose authority it starts work', async () => {
    const other = await api.addUser('maintainer');
    await join(tenant, other, 'member', 'admin');
    const id = await made({}, other);
    const { schedules } = (await tenant.owner.get(`/schedules?authority_id=${other.id}`)).body;
    expect(schedules.map((schedule: { id: string }) => schedule.id)).toEqual([id]);
  });

  it('masks secret variables in answers and keeps them out of the audit and the engine', async () => {
    const id = await made({ work: workOf({ variables: { token: 'hush-hush', size: 3 } }) });
    const { work } = await read(id);
    expect(work.run.variables).toEqual({ token: { sensitive: true }, size: 3 });
    const [{ found = '' } = {}] = await api.rows<{ found: string }>(
      `select concat((select jsonb_agg(to_jsonb(a)) from audit_records a), (select jsonb_agg(to_jsonb(s)) from schedules s),
              (select jsonb_agg(to_jsonb(e)) from domain_events e)) as found`,
    );
    expect(found).not.toContain('hush-hush');
    expect(JSON.stringify(api.engineMessages)).not.toContain('hush-hush');
  });

  it.each([
    [{ schedule: { cron: '0 18 * * FRY' } }, 400, 'is not a valid day of the week'],
    [{ schedule: { every: '1s' } }, 400, 'between 5m and 365d'],
    [{ schedule: {} }, 400, ''],
    [{ work: {} }, 400, ''],
    [{ work: { run: { template_id: newId() } } }, 422, 'no such template'],
    [{ work: { assembly_run: { assembly_id: newId(), environment_id: newId() } } }, 422, 'no such assembly'],
  ])('is refused with %j: %d', async (body, expected, message) => {
    const { status, text } = await create(body);
    expect(status, text).toBe(expected);
    expect(text).toContain(message);
  });

  it('is refused if its work does not fit the template', async () => {
    const { status, text } = await create({ work: workOf({ variables: { size: 'big' } }) });
    expect(status, text).toBe(422);
  });

  it('may destroy an instance that is not deployed yet', async () => {
    await made({ work: workOf({ operation: 'destroy' }) });
  });

  it('is paused, changed and deleted, and a stale revision answers 409', async () => {
    const id = await made();
    const paused = await tenant.owner.patch(`/schedules/${id}`, { enabled: false, expected_revision: 1 });
    expect(paused.body).toMatchObject({ enabled: false, next_times: [], revision: 2 });
    expect((await messagesOf(id)).at(-1)).toMatchObject({ kind: 'schedule_upsert', schedule: { isPaused: true } });
    expect((await tenant.owner.patch(`/schedules/${id}`, { name: 'X', expected_revision: 1 })).status).toBe(409);
    const changed = await tenant.owner.patch(`/schedules/${id}`, { schedule: { every: '6h' }, enabled: true });
    expect(changed.body).toMatchObject({ schedule: { every: '6h' }, name: 'Every Monday', revision: 3 });
    expect((await tenant.owner.delete(`/schedules/${id}`)).status).toBe(204);
    expect((await messagesOf(id)).at(-1)).toEqual({ kind: 'schedule_delete' });
    expect((await tenant.owner.get(`/schedules/${id}`)).status).toBe(404);
  });

  it('is listed for those who may read its team, and filtered by team, environment and whether it is paused', async () => {
    const id = await made({ enabled: false });
    const ids = async (query: string, user = tenant.owner) =>
      (await user.get(`/schedules?${query}`)).body.schedules?.map((one: { id: string }) => one.id);
    expect(await ids(`team_id=${tenant.team}&enabled=false`)).toContain(id);
    expect(await ids(`team_id=${tenant.team}&enabled=true`)).not.toContain(id);
    expect(await ids(`environment_id=${tenant.environment}`)).toContain(id);
    expect(await ids(`organization_id=${tenant.organization}`)).toContain(id);
    const stranger = (await makeTenant(api)).owner;
    expect(await ids('', stranger)).toEqual([]);
    expect((await stranger.get(`/schedules/${id}`)).status).toBe(404);
    expect((await stranger.get(`/schedules?team_id=${tenant.team}`)).status).toBe(404);
  });

  it('can be read by a viewer of the team, and not changed', async () => {
    const id = await made();
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    expect((await viewer.get(`/schedules/${id}`)).body.actions[0]).toMatchObject({ name: 'update', allowed: false });
    expect((await viewer.patch(`/schedules/${id}`, { enabled: false })).status).toBe(403);
    expect((await viewer.post(`/schedules/${id}/trigger`, {})).status).toBe(403);
  });
});

describe('a time of a schedule', () => {
  it('starts one run under the authority of the schedule, even if the start is tried several times', async () => {
    const id = await made({ work: workOf({ message: 'nightly', variables: { token: 'abc' } }) });
    const at = new Date('2026-11-23T17:00:00Z');
    await fire(id, at);
    await fire(id, at);
    const { last_results: results } = await read(id);
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ outcome: 'started', status: 'queued', scheduled_at: at.toISOString() });
    const { body: run } = await tenant.owner.get(`/runs/${results[0].run_id}`);
    expect(run).toMatchObject({ message: 'nightly', operation: 'apply', requested_by: { id: tenant.owner.id } });
  });

  it('starts nothing while schedules are turned off, with a reason in its history, and starts again when they are on', async () => {
    const id = await made();
    const admin = await api.addUser('admin');
    await admin.patch('/admin/settings', { features: { schedules: { enabled: false, reason: 'a move' } } });
    await fire(id);
    await admin.patch('/admin/settings', { features: { schedules: { enabled: true } } });
    expect((await read(id)).last_results).toEqual([
      expect.objectContaining({
        outcome: 'failed',
        reason: 'feature_disabled',
        message: expect.stringContaining('a move'),
        run_id: null,
      }),
    ]);
    await fire(id);
    expect((await read(id)).last_results[0]).toMatchObject({ outcome: 'started' });
  });

  it('is skipped while the previous run has not ended, and not afterwards', async () => {
    const id = await made();
    await fire(id);
    await fire(id);
    const [skipped, started] = (await read(id)).last_results;
    expect(skipped).toMatchObject({ outcome: 'skipped', reason: 'still_running', run_id: null });
    await api.rows(`update runs set status = 'succeeded', finished_at = now() where id = ?`, [started.run_id]);
    await fire(id);
    expect((await read(id)).last_results[0]).toMatchObject({ outcome: 'started' });
  });

  it('starts nothing while the schedule is paused, unless somebody requests a start', async () => {
    const id = await made({ enabled: false });
    await fire(id);
    expect((await read(id)).last_results).toEqual([]);
    const { status, body, headers } = await tenant.owner.post(`/schedules/${id}/trigger`, {});
    expect(status).toBe(202);
    expect(body.last_results[0]).toMatchObject({ outcome: 'pending', requested_by: expect.any(String) });
    const start = api.engineMessages.filter(({ target }) => target === headers['idempotency-key']);
    const input = { kind: 'schedule', id, scheduled_at: body.last_results[0].scheduled_at };
    expect(start.map(({ payload }) => payload)).toEqual([{ kind: 'start', workflow: 'scheduledWork', input }]);
    await fire(id, new Date(input.scheduled_at));
    expect((await read(id)).last_results).toEqual([expect.objectContaining({ outcome: 'started' })]);
  });

  it('starts a run that the user who requested the start may not approve', async () => {
    const id = await made();
    const asker = await api.addUser('maintainer');
    await join(tenant, asker, 'member', 'admin');
    const { body } = await asker.post(`/schedules/${id}/trigger`, {});
    await fire(id, new Date(body.last_results[0].scheduled_at));
    const run = (await read(id)).last_results[0].run_id;
    const [row] = await api.rows<{ authors: unknown }>('select authors from runs where id = ?', [run]);
    expect(row?.authors).toEqual([{ id: asker.id, person: asker.id, because: 'you started the schedule' }]);
  });

  it('starts a run that the user who changed its times may not approve', async () => {
    const id = await made();
    const mover = await api.addUser('maintainer');
    await join(tenant, mover, 'member', 'admin');
    expect((await mover.patch(`/schedules/${id}`, { schedule: { every: 'PT6H' } })).status).toBe(200);
    await fire(id);
    const run = (await read(id)).last_results[0].run_id;
    const [row] = await api.rows<{ authors: { id: string }[] }>('select authors from runs where id = ?', [run]);
    expect(row?.authors.map((author) => author.id)).toEqual([mover.id]);
  });

  it('starts a run that the user who set its times may not approve, even after another has saved its work', async () => {
    const id = await made();
    const saver = await api.addUser('maintainer');
    await join(tenant, saver, 'member', 'admin');
    expect((await saver.patch(`/schedules/${id}`, { work: workOf() })).status).toBe(200);
    await fire(id);
    const run = (await read(id)).last_results[0].run_id;
    const [row] = await api.rows<{ authors: { id: string }[] }>('select authors from runs where id = ?', [run]);
    expect(row?.authors.map((author) => author.id)).toEqual([tenant.owner.id]);
  });

  it('starts nothing if the schedule is changed meanwhile, or if another time has just started its work', async () => {
    const id = await made();
    const { schedule } = (await findSchedule(api.services.orm.em.fork(), id)) ?? {};
    if (!schedule) throw new Error('the schedule was not found');
    const principal = await api.services.transactions.run(({ em }) => findStoredPrincipal(em, schedule));
    const start = (at: string) => startWork(deps(), schedule, new Date(at), principal);
    await api.rows('update schedules set revision = revision + 1 where id = ?', [id]);
    await expect(start('2026-11-23T17:00:00Z')).rejects.toThrow('was changed while its work started');
    await api.rows('update schedules set revision = revision - 1 where id = ?', [id]);
    await start('2026-11-23T18:00:00Z');
    await expect(start('2026-11-23T19:00:00Z')).rejects.toThrow('has just started its work');
    expect((await read(id)).last_results).toHaveLength(1);
  });

  it.each([
    ['authority_disabled', `update principals set enabled = false where id = ?`],
    ['authority_gone', `update principals set deleted_at = now() where id = ?`],
    ['key_revoked', `update api_keys set revoked_at = now() where principal_id = ?`],
    ['not_permitted', `update principals set role = 'requester' where id = ?`],
    ['not_permitted', `delete from team_members where principal_id = ?`],
  ])('fails with %s in its history if its owner has lost their authority: %s', async (reason, statement) => {
    const owner = await api.addUser('maintainer');
    await join(tenant, owner, 'member', 'admin');
    const id = await made({}, owner);
    await api.rows(statement, [owner.id]);
    await fire(id);
    const [failed] = (await read(id)).last_results;
    expect(failed).toMatchObject({ outcome: 'failed', reason, run_id: null });
    expect(failed.message).toMatch(/\w+ \w+/);
    const events = await api.rows<{ data: { reason: string } }>(
      `select data from domain_events where subject_id = ? and type = 'schedule.failed'`,
      [id],
    );
    expect(events).toEqual([{ data: expect.objectContaining({ reason }) }]);
  });

  it('starts nothing after its environment was transferred to another team, and is paused with a reason', async () => {
    const { owner, organization } = tenant;
    const other = (await owner.make(`/organizations/${organization}/teams`, { name: `T ${newId()}` })).id;
    const project = (await owner.make('/projects', { team_id: tenant.team, name: `P ${newId()}` })).id;
    const environment = (await owner.make('/environments', { project_id: project, name: 'dev', kind: 'development' }))
      .id;
    const id = await made({ work: workOf({ environment_id: environment }) });
    const moved = await owner.post(`/projects/${project}/transfer`, { team_id: other });
    expect(moved.status, moved.text).toBe(200);
    expect(await read(id), 'at once').toMatchObject({
      team_id: other,
      enabled: false,
      paused_because: 'owner_changed',
      next_times: [],
    });
    const { schedules } = (await owner.get(`/schedules?team_id=${other}&enabled=false`)).body;
    expect(schedules).toMatchObject([{ id }]);
    expect(
      await api.services.transactions.run(({ em }) => lockPlanned(em, id)),
      'and in the engine, which is told each minute',
    ).toMatchObject({
      isPaused: true,
    });
    await fire(id);
    expect((await read(id)).last_results).toMatchObject([{ outcome: 'failed', reason: 'owner_changed', run_id: null }]);
    expect((await messagesOf(id)).at(-1)).toMatchObject({ schedule: { isPaused: true } });
    const resumed = await owner.patch(`/schedules/${id}`, { enabled: true });
    expect([resumed.status, resumed.headers['x-error-code']], 'resuming it is not enough').toEqual([
      409,
      'schedule_not_saved',
    ]);
    const work = workOf({ template_id: await publish({}, other), environment_id: environment });
    const saved = await owner.patch(`/schedules/${id}`, { enabled: true, work });
    expect(saved.status, saved.text).toBe(200);
    await fire(id, new Date(Date.now() + 120_000));
    expect((await read(id)).last_results[0], 'saving the work is').toMatchObject({ outcome: 'started' });
  });

  it('starts nothing if its environment is transferred while the work starts', async () => {
    const id = await made();
    const { schedule } = (await findSchedule(api.services.orm.em.fork(), id)) ?? {};
    if (!schedule) throw new Error('the schedule was not found');
    const principal = await api.services.transactions.run(({ em }) => findStoredPrincipal(em, schedule));
    const moved = { ...schedule, savedForOrganizationId: newId() } as typeof schedule;
    await expect(startWork(deps(), moved, new Date(), principal)).rejects.toThrow('another team or organization');
  });

  it('keeps who requested a start that has not happened yet', async () => {
    const id = await made();
    await tenant.owner.post(`/schedules/${id}/trigger`);
    const later = Date.now() + 3_600_000;
    await fire(id, new Date(later));
    for (let time = 1; time <= 205; time += 1) await fire(id, new Date(later + time * 3_600_000));
    const found = await api.rows('select outcome from schedule_firings where schedule_id = ? and author is not null', [
      id,
    ]);
    expect(found).toEqual([{ outcome: 'pending' }]);
  });

  it('is skipped as long as its run has not ended, however many times that are', async () => {
    const id = await made();
    const start = new Date('2026-01-01T00:00:00Z');
    await fire(id, start);
    const rows = Array.from({ length: 210 }, (_, hour) => new Date(start.getTime() + (hour + 1) * 3_600_000));
    for (const at of rows) await fire(id, at);
    const found = await api.rows(
      'select outcome, times from schedule_firings where schedule_id = ? order by scheduled_at',
      [id],
    );
    expect(found, 'in one line of the history').toEqual([
      { outcome: 'started', times: 1 },
      { outcome: 'skipped', times: 210 },
    ]);
  });

  it('fails with the message of the refusal if the work no longer fits the template', async () => {
    const fitting = await publish();
    const id = await made({ work: workOf({ template_id: fitting }) });
    const variables = { type: 'object', required: ['region'], properties: { region: { type: 'string' } } };
    const spec = { variables, executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
    await tenant.owner.make(`/registry/templates/${fitting}/versions`, { version: '2.0.0', spec });
    await fire(id);
    const [failed] = (await read(id)).last_results;
    expect(failed).toMatchObject({ outcome: 'failed', reason: 'refused', message: expect.stringContaining('region') });
  });

  it('starts the work under the authority of the user who saved it last', async () => {
    const other = await api.addUser('maintainer');
    await join(tenant, other, 'member', 'admin');
    const id = await made({}, other);
    await api.rows('delete from team_members where principal_id = ?', [other.id]);
    await tenant.owner.patch(`/schedules/${id}`, { work: workOf() });
    await fire(id);
    expect((await read(id)).last_results[0]).toMatchObject({ outcome: 'started' });
  });
});

describe('an existing schedule', () => {
  const isPlanned = async (id: string) =>
    api.services.orm.em.fork().transactional(async (em) => (await lockPlanned(em, id)) !== null);

  it('starts nothing while the environment or the team is archived', async () => {
    const own = await makeTenant(api);
    const { id: free } = await own.owner.make('/registry/templates', { name: 'Free', team_id: own.team });
    const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
    await own.owner.make(`/registry/templates/${free}/versions`, { version: '1.0.0', spec });
    const { id } = await own.owner.make('/schedules', {
      team_id: own.team,
      name: 'Nightly',
      schedule: { every: '1d' },
      work: { run: { template_id: free, environment_id: own.environment } },
    });
    expect(await isPlanned(id)).toBe(true);
    const archive = (verb: string) => own.owner.post(`/environments/${own.environment}/${verb}`, {});
    expect((await archive('archive')).status).toBe(200);
    expect(await isPlanned(id)).toBe(false);
    expect((await archive('unarchive')).status).toBe(200);
    expect(await isPlanned(id)).toBe(true);
    await api.rows('update teams set archived_at = now() where id = ?', [own.team]);
    expect(await isPlanned(id)).toBe(false);
    const { last_results: results } = (await own.owner.get(`/schedules/${id}`)).body;
    await fire(id);
    expect(results).toEqual([]);
  });

  it('prevents the deletion of the template that it starts', async () => {
    const used = await publish();
    await made({ work: workOf({ template_id: used, instance: `i-${newId()}` }) });
    const { status, text } = await tenant.owner.delete(`/registry/templates/${used}`);
    expect(status, text).toBe(409);
    expect(text).toContain('Every Monday');
  });
});
