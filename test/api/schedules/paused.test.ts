import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockPlanned } from '#domain/schedules/planned-store.ts';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let template: string;
let author: ApiUser;
let schedule: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = (await tenant.owner.make('/registry/templates', { name: 'Paused', team_id: tenant.team })).id;
  const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
  await tenant.owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
});
afterAll(() => api?.close());

const work = () => ({
  run: { template_id: template, environment_id: tenant.environment, instance: `i-${newId()}` },
});

/** A schedule that an admin of its team has saved. */
async function save(): Promise<void> {
  author = await api.addUser('maintainer');
  await join(tenant, author, 'member', 'admin');
  const body = { team_id: tenant.team, name: 'Hourly', schedule: { every: '1h' }, work: work() };
  schedule = (await author.make('/schedules', body)).id;
}

const read = async () => (await tenant.owner.get(`/schedules/${schedule}`)).body;
const change = (body: object) => tenant.owner.patch(`/schedules/${schedule}`, body);
async function isListed(enabled: boolean): Promise<boolean> {
  const { schedules } = (await tenant.owner.get(`/schedules?team_id=${tenant.team}&enabled=${enabled}&limit=200`)).body;
  return schedules.some(({ id }: { id: string }) => id === schedule);
}

const endings = [
  ['authority_gone', `update principals set deleted_at = now() where id = ?`],
  ['authority_disabled', `update principals set enabled = false where id = ?`],
  ['key_revoked', `update api_keys set revoked_at = now() where principal_id = ?`],
  ['key_expired', `update api_keys set expires_at = now() - interval '1 minute' where principal_id = ?`],
] as const;

describe.each(endings)('a schedule whose authority has ended with %s', (reason, statement) => {
  it('is paused at once with a reason, and is resumed when another person saves its work', async () => {
    await save();
    expect(await read()).toMatchObject({ enabled: true, paused_because: null });
    expect([await isListed(true), await isListed(false)]).toEqual([true, false]);
    await api.rows(statement, [author.id]);
    expect(await read()).toMatchObject({ enabled: false, paused_because: reason, next_times: [] });
    expect([await isListed(true), await isListed(false)]).toEqual([false, true]);
    const { status, headers, body } = await change({ enabled: true });
    expect([status, headers['x-error-code']]).toEqual([409, 'schedule_not_saved']);
    expect(body.error).toMatch(
      /^the schedule cannot be resumed as it is: the (user|API key) .*: (have another person )?save /,
    );
    expect((await change({ work: work() })).body).toMatchObject({ enabled: true, paused_because: null });
  });
});

it('a schedule whose author was disabled continues when they are enabled', async () => {
  await save();
  await api.rows('update principals set enabled = false where id = ?', [author.id]);
  expect(await read()).toMatchObject({ enabled: false });
  await api.rows('update principals set enabled = true where id = ?', [author.id]);
  expect(await read()).toMatchObject({ enabled: true, paused_because: null });
});

it('a schedule that was paused while its author was disabled stays paused when they are enabled', async () => {
  await save();
  await api.rows('update principals set enabled = false where id = ?', [author.id]);
  expect((await change({ enabled: false })).status).toBe(200);
  await api.rows('update principals set enabled = true where id = ?', [author.id]);
  expect(await read()).toMatchObject({ enabled: false, paused_because: null });
  expect(await api.services.transactions.run(({ em }) => lockPlanned(em, schedule))).toMatchObject({ isPaused: true });
});

it('a schedule that was transferred stays paused when its work is saved, until somebody resumes it', async () => {
  await save();
  await api.rows('update schedules set saved_for_team_id = ? where id = ?', [newId(), schedule]);
  expect(await read()).toMatchObject({ enabled: false, paused_because: 'owner_changed' });
  expect((await change({ work: work() })).body).toMatchObject({ enabled: false, paused_because: null });
  expect((await change({ enabled: true })).body).toMatchObject({ enabled: true });
  const [{ times_author: resumed } = {}] = await api.rows<{ times_author?: { id: string } }>(
    'select times_author from schedules where id = ?',
    [schedule],
  );
  expect(resumed?.id).toBe(tenant.owner.id);
});
