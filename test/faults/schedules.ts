import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readUntil } from '#test/support/read-until.ts';
import { makePlace, type Place } from './harness/assembly-place.ts';
import { checkLeftovers } from './harness/checks.ts';
import type { Installation } from './harness/installation.ts';

export interface SchedulesReport {
  readonly schedules: number;
  /** How many times came, by their outcomes. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const endWithinMs = 240_000;

/**
 * Starts schedules by hand and by the engine, as at one of their times, while all workers, Temporal and PostgreSQL are killed. Each start has one
 * outcome in the history of its schedule, and each outcome that says so has one run.
 */
export async function disruptSchedules(
  installation: Installation,
  { schedules: count }: { schedules: number },
): Promise<SchedulesReport> {
  const { workers, temporal, postgres } = installation;
  const startedAt = Date.now();
  const place = await makePlace(installation);
  const ids = await addSchedules(installation, place, count);
  const disruptions = [
    async () => {
      await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
      await Promise.all(workers.map((worker) => worker.start()));
    },
    async () => {
      await temporal.kill();
      await temporal.start();
    },
    async () => {
      await postgres.kill();
      await postgres.start();
    },
  ];
  for (const disrupt of disruptions) {
    const starting = Promise.all(
      ids.map((id, index) => (index % 2 === 0 ? startByHand : startByEngine)(installation, id)),
    );
    await sleep(500);
    await disrupt();
    await starting;
    await awaitIdle(installation);
  }
  return {
    schedules: count,
    outcomes: await check(installation, ids),
    seconds: Math.round((Date.now() - startedAt) / 1000),
  };
}

async function addSchedules(
  { requester }: Installation,
  { teamId, environmentId }: Place,
  count: number,
): Promise<string[]> {
  const slug = `scheduled-${randomUUID()}`;
  const { id } = await requester.call('POST', '/registry/templates', { name: slug, slug, team_id: teamId });
  const spec = {
    executor: { kind: 'command', apply: [{ name: 'work', run: ['sh', '-c', 'sleep 1'] }] },
    retry_safe: true,
  };
  await requester.call('POST', `/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  const made = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      requester.call('POST', '/schedules', {
        team_id: teamId,
        name: `Schedule ${index}`,
        schedule: { every: 'P1D' },
        work: { run: { template_id: id, environment_id: environmentId, instance: `${slug}-${index}` } },
      }),
    ),
  );
  return made.map((schedule) => String(schedule.id));
}

/** The request is repeated with its key until an API answers it. */
async function startByHand({ requester, violations }: Installation, id: string): Promise<void> {
  const headers = { 'idempotency-key': randomUUID() };
  const { status, text } = await requester.sendWithRetries('POST', `/schedules/${id}/trigger`, {}, headers);
  if (status !== 202) violations.push(`starting the schedule ${id} by hand answered ${status}: ${text}`);
}

/** Has the engine do what it does at a time of the schedule. */
async function startByEngine({ askEngine }: Installation, id: string): Promise<void> {
  for (const deadline = Date.now() + 90_000; ; await sleep(500)) {
    try {
      await askEngine(async (engine) => {
        // The engine's name of a schedule ends with its id.
        for await (const { scheduleId } of engine.schedule.list())
          if (scheduleId.endsWith(id)) return engine.schedule.getHandle(scheduleId).trigger();
        throw new Error(`the engine does not know the schedule ${id}`);
      });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

async function awaitIdle({ query, violations }: Installation): Promise<void> {
  const read = () =>
    query<{ id: string }>(
      `select id::text from runs where finished_at is null
      union all select id::text from outbox
      union all select id::text from schedule_firings where outcome = 'pending' limit 5`,
    );
  const rows = await readUntil(read, ({ length }) => length === 0, endWithinMs);
  if (rows.length > 0)
    violations.push(`after ${endWithinMs / 1000} s there is still work to do: ${rows.map(({ id }) => id).join(', ')}`);
}

/** What must not be there once everything has ended. */
const emptyQueries: Readonly<Record<string, string>> = {
  'starts that name no run': `select id::text from schedule_firings f where outcome = 'started' and not exists (select from runs r where r.id = f.run_id)`,
  'runs that no start names': `select id::text from runs r where not exists (select from schedule_firings f where f.run_id = r.id)`,
  'runs of two starts': `select run_id::text as id from schedule_firings where run_id is not null group by run_id having count(*) > 1`,
  'runs that did not succeed': `select id::text from runs where status <> 'succeeded'`,
  'starts that failed': `select id::text from schedule_firings where outcome = 'failed'`,
  'slots that are held': `select run_id::text as id from instance_slots`,
};

async function check(installation: Installation, ids: readonly string[]): Promise<Record<string, number>> {
  const { query, violations } = installation;
  for (const [what, sql] of Object.entries(emptyQueries)) {
    const rows = await query<{ id: string }>(sql);
    if (rows.length > 0)
      violations.push(
        `${rows.length} ${what}: ${rows
          .map(({ id }) => id)
          .slice(0, 5)
          .join(', ')}`,
      );
  }
  const byHand = ids.filter((_, index) => index % 2 === 0);
  const [asked] = await query<{ count: number }>(
    `select count(*)::int from schedule_firings where schedule_id = any($1::uuid[]) and author is not null`,
    [byHand],
  );
  if (asked?.count !== byHand.length * 3)
    violations.push(`${byHand.length * 3} starts were asked for by hand, and ${asked?.count} have an outcome`);
  const without = await query<{ id: string }>(
    `select id::text from unnest($1::uuid[]) as wanted(id) where not exists (select from schedule_firings f where f.schedule_id = wanted.id)`,
    [ids],
  );
  if (without.length > 0) violations.push(`${without.length} schedules have no outcome of any start`);
  checkLeftovers(installation);
  const rows = await query<{ outcome: string; count: number }>(
    'select outcome, count(*)::int from schedule_firings group by 1',
  );
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
}
