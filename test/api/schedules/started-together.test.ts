import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addTemplate } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

async function addSchedule(): Promise<string> {
  const { id: template } = await addTemplate(tenant.owner, { team: tenant.team });
  const run = { template_id: template, environment_id: tenant.environment, variables: { name: 'x' } };
  const named = { team_id: tenant.team, name: 'S', schedule: { every: 'PT6H' } };
  return (await tenant.owner.make('/schedules', { ...named, work: { run } })).id;
}

/** Starts the work of a time as the engine does, which tries again until it gets an outcome. */
async function fire(id: string, at: Date): Promise<void> {
  const deps = { ...api.services, bindingKey: api.services.installation.bindingKey };
  for (let tries = 0; tries < 50; tries += 1) {
    const isOver = await fireSchedule(deps, id, at).then(
      () => true,
      () => false,
    );
    if (isOver) return;
  }
  throw new Error('the start never came to an outcome');
}

it('fifty simultaneous requests to start a schedule start its work once, and the others are skipped', async () => {
  const id = await addSchedule();
  const answers = await sendAtOnce(50, () => tenant.owner.post(`/schedules/${id}/trigger`, undefined));
  expect(answers.every(({ status }) => status === 202)).toBe(true);
  const pending = await api.rows<{ at: string }>(
    'select scheduled_at as at from schedule_firings where schedule_id = ?',
    [id],
  );
  expect(pending).toHaveLength(50);
  await Promise.all(pending.map(({ at }) => fire(id, new Date(at))));
  const outcomes =
    'select outcome, count(*)::int as number from schedule_firings where schedule_id = ? group by outcome';
  const counted = await api.rows<{ outcome: string; number: number }>(`${outcomes} order by outcome`, [id]);
  expect(counted).toEqual([
    { outcome: 'skipped', number: 49 },
    { outcome: 'started', number: 1 },
  ]);
  expect((await tenant.owner.get(`/runs?environment_id=${tenant.environment}`)).body.runs).toHaveLength(1);
});

it('two people who start a schedule within one millisecond are both recorded, so that neither may approve its run', async () => {
  const id = await addSchedule();
  const other = await api.addUser('maintainer');
  await join(tenant, other, 'member', 'admin');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  try {
    for (const person of [tenant.owner, other])
      expect((await person.post(`/schedules/${id}/trigger`)).status).toBe(202);
  } finally {
    vi.useRealTimers();
  }
  const authors = `select author->>'id' as id from schedule_firings where schedule_id = ? order by scheduled_at`;
  expect(await api.rows(authors, [id])).toEqual([{ id: tenant.owner.id }, { id: other.id }]);
});
