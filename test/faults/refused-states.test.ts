import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { openDatabase } from '#open-database';
import { ended, type System, startSystem } from '#test/support/system.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';

/** The whole service, with a PostgreSQL that rejects the rows of a worker. */
let system: System;
let orm: Orm;
beforeAll(async () => {
  system = await startSystem();
  orm = openDatabase({ databaseUrl: system.database.url, databasePoolSize: 1 });
  await orm.em.execute(
    `create function refuse() returns trigger language plpgsql as $$
     begin raise exception 'not this' using errcode = '22003'; end $$`,
  );
});
afterAll(async () => {
  await orm?.close();
  await system?.close();
});

/** Makes PostgreSQL reject every insert into a table while the work runs. */
async function whileRejecting<T>(table: string, work: () => Promise<T>): Promise<T> {
  await orm.em.execute(`create trigger refuse before insert on ${table} for each row execute function refuse()`);
  return work().finally(() => orm.em.execute(`drop trigger refuse on ${table}`));
}

describe('a run whose state PostgreSQL rejects', () => {
  it('fails within seconds, sets the state aside, reports it, and releases its instance', async () => {
    const { administrator } = system;
    const spec = commands({ remember: `echo '{"it":"is"}' > state.json` });
    const templateId = await publish(administrator, 'remembers', spec);
    const run = await whileRejecting('state_versions', () => runToEnd(administrator, { template_id: templateId }));
    expect(run).toMatchObject({ status: 'failed', status_reason: 'state_refused', state_serial_after: null });
    const { events } = (await administrator.get(`/runs/${run.id}/events`)).body;
    const { data } = events.find(({ type }: { type: string }) => type === 'run.state_refused');
    expect(data).toMatchObject({ write: 1, problem: 'the database refused it (22003)' });
    expect(readdirSync(join(system.config.dataDir, 'spool'))).toEqual([data.file]);
    const metrics = await (await fetch(`${system.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/^states_refused 1$/m);
    expect(await runToEnd(administrator, { template_id: templateId })).toMatchObject({
      status: 'succeeded',
      state_serial_after: 1,
      isolation: expect.stringMatching(/^(none|sandbox)$/),
    });
  });

  it('fails even if it is canceled meanwhile', async () => {
    const { administrator } = system;
    const spec = commands({ remember: `echo '{"it":"is"}' > state.json; sleep 60` });
    const templateId = await publish(administrator, 'cancelled', spec);
    const run = await whileRejecting('state_versions', async () => {
      const { body } = await administrator.post('/runs', { template_id: templateId });
      await expect.poll(async () => (await administrator.get(`/runs/${body.id}`)).body.phase).toBe('applying');
      await expect
        .poll(async () => (await administrator.get(`/runs/${body.id}/logs`, { accept: 'text/plain' })).text)
        .toContain('step remember');
      await administrator.post(`/runs/${body.id}/cancel`);
      return administrator.awaitRun(body.id, ended);
    });
    expect(run).toMatchObject({ status: 'failed', status_reason: 'state_refused' });
  });
});

describe('a run whose plan PostgreSQL rejects', () => {
  it('fails with a reason and is not planned again', async () => {
    const { administrator } = system;
    const templateId = await publish(administrator, 'planned', commands({ act: 'true' }));
    const run = await whileRejecting('run_plans', () => runToEnd(administrator, { template_id: templateId }));
    expect(run).toMatchObject({ status: 'failed', status_reason: 'plan_invalid' });
    const attempts = await orm.em.execute('select outcome from run_attempts where run_id = ?', [run.id]);
    expect(attempts).toEqual([{ outcome: 'failed' }]);
  });
});
