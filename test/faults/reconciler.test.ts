import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { type Engine, openEngine } from '#engine/connection.ts';
import { openDatabase } from '#open-database';
import { type System, startSystem } from '#test/support/system.ts';
import { commands, publish } from '#test/support/templates.ts';
import { type ReconcilerDeps, reconcile } from '#worker/background/reconciler.ts';

let system: System;
let orm: Orm;
let engine: Engine;
let deps: ReconcilerDeps;
let logged: { level: number; msg: string }[] = [];
let reviewed: string;
/** A pool without workers. */
const checkless = 'checkless';

beforeAll(async () => {
  system = await startSystem();
  orm = openDatabase(system.config);
  engine = openEngine(system.config.temporal);
  const log = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line)) });
  deps = {
    orm,
    engine,
    log,
    transactions: new Transactions(orm, { dispatch: () => undefined }),
    bindingKey: Buffer.alloc(32),
  };
  const spec = { ...commands({ act: 'true' }), approval: { required: 1, when: 'always' } };
  await system.administrator.post('/worker-pools', { name: checkless });
  reviewed = await publish(system.administrator, 'reviewed', spec);
});
afterAll(async () => {
  await engine?.close();
  await orm?.close();
  await system?.close();
});

const rows = <Row extends object>(sql: string, params: unknown[] = []) => orm.em.fork().execute<Row[]>(sql, params);
const admit = async (instance: string) =>
  (await system.administrator.post('/runs', { template_id: reviewed, instance })).body;
const waiting = async (instance: string) => {
  const { id } = await admit(instance);
  return system.administrator.awaitRun(id, ['pending_approval']);
};
const terminate = (run: { idempotency_key: string }) =>
  engine.client.workflow.getHandle(run.idempotency_key).terminate();
const statusOf = async (id: string) => (await system.administrator.get(`/runs/${id}`)).body.status;
/** Waits until Temporal has received every message. */
const waitUntilDispatched = () => expect.poll(async () => (await rows(`select 1 from outbox`)).length).toBe(0);
/** Publishes a version that no worker can check yet, and answers its check. */
const publishUnchecked = async (name: string) => {
  await publish(system.administrator, name, { ...commands({ act: 'true' }), pool: checkless });
  const [check] = await checksOf(name);
  return check?.id ?? '';
};
const checksOf = (name: string) =>
  rows<{ id: string; tries: number }>(
    'select c.id, c.tries from template_checks c join templates t on t.id = c.template_id where t.name = ?',
    [name],
  );
const resultOf = (name: string) =>
  rows<{ check: object }>(
    'select v.check from template_versions v join templates t on t.id = v.template_id where t.name = ?',
    [name],
  );
const metric = async (name: string) => {
  const text = await (await fetch(`${system.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
};

describe('runs whose workflow no longer exists', () => {
  it('fail with a reason, release their instance, and let the next run begin', async () => {
    const lost = await waiting('one');
    const next = await admit('one');
    await waitUntilDispatched();
    await terminate(lost);
    await reconcile(deps, 0);
    const { body } = await system.administrator.get(`/runs/${lost.id}`);
    expect(body).toMatchObject({ status: 'failed', status_reason: 'engine_lost', phase: 'finished', waiting_on: null });
    expect(await rows(`select 1 from instance_slots where run_id = ?`, [lost.id])).toEqual([]);
    await system.administrator.awaitRun(next.id, ['pending_approval']);
  });

  it('are not changed during the grace period, or while their workflow exists', async () => {
    const young = await waiting('young');
    await waitUntilDispatched();
    await reconcile(deps, 0);
    expect(await statusOf(young.id)).toBe('pending_approval');
    await terminate(young);
    await reconcile(deps, 3_600);
    expect(await statusOf(young.id)).toBe('pending_approval');
    await reconcile(deps, 0);
    expect(await statusOf(young.id)).toBe('failed');
  });

  it('are not changed while the message that starts their workflow is in the outbox', async () => {
    const run = await waiting('untold');
    await waitUntilDispatched();
    await terminate(run);
    const start = { kind: 'start', workflow: 'run', input: { run_id: run.id } };
    await rows(
      `insert into outbox (target, payload, created_at, due_at) values (?, ?, now(), now() + interval '1 hour')`,
      [run.idempotency_key, JSON.stringify(start)],
    );
    await reconcile(deps, 0);
    expect(await statusOf(run.id)).toBe('pending_approval');
    await rows(`delete from outbox where target = ?`, [run.idempotency_key]);
    await reconcile(deps, 0);
    expect(await statusOf(run.id)).toBe('failed');
  });

  it('are searched for by one worker at a time', async () => {
    const run = await waiting('guarded');
    await waitUntilDispatched();
    await terminate(run);
    const other = orm.em.fork();
    await other.begin();
    await other.execute(`select pg_advisory_xact_lock(hashtextextended('delivery-coordinator/reconcile', 0))`);
    await reconcile(deps, 0);
    expect(await statusOf(run.id)).toBe('pending_approval');
    await other.rollback();
    await reconcile(deps, 0);
    expect(await statusOf(run.id)).toBe('failed');
  });

  it('are not changed if there are more than a few, and an alarm is logged', async () => {
    const runs = await Promise.all(Array.from({ length: 7 }, (_, number) => waiting(`many-${number}`)));
    await waitUntilDispatched();
    await Promise.all(runs.map(terminate));
    logged = [];
    await reconcile(deps, 0);
    expect(logged).toEqual([expect.objectContaining({ level: 50, msg: expect.stringMatching(/^ALARM/) })]);
    for (const { id } of runs) expect(await statusOf(id)).toBe('pending_approval');
    expect(await metric('reconciliation_runs_missed')).toBeGreaterThan(5);
    for (const { id } of runs.slice(2)) await system.administrator.post(`/runs/${id}/cancel`, { force: true });
    await reconcile(deps, 0);
    for (const { id } of runs.slice(0, 2)) expect(await statusOf(id)).toBe('failed');
    await reconcile(deps, 0);
    expect(await metric('reconciliation_runs_missed')).toBe(0);
    expect(Date.now() / 1000 - (await metric('reconciliation_timestamp_seconds'))).toBeLessThan(60);
  });

  it('are not changed if the Temporal server is not that of this installation', async () => {
    const run = await waiting('elsewhere');
    await waitUntilDispatched();
    await terminate(run);
    logged = [];
    const stranger = { ...engine, check: async () => randomUUID() };
    await reconcile({ ...deps, engine: stranger }, 0);
    expect(await statusOf(run.id)).toBe('pending_approval');
    expect(logged.map(({ msg }) => msg)).toEqual([expect.stringContaining('not the one of this installation')]);
    await system.administrator.post(`/runs/${run.id}/cancel`, { force: true });
  });

  it('are not changed while Temporal is unreachable', async () => {
    const run = await waiting('away');
    await waitUntilDispatched();
    await terminate(run);
    const nowhere = openEngine({ ...system.config.temporal, address: '127.0.0.1:1' });
    await expect(reconcile({ ...deps, engine: { ...nowhere, check: engine.check } }, 0)).rejects.toThrow();
    await nowhere.close();
    expect(await statusOf(run.id)).toBe('pending_approval');
  });
});

describe('checks of versions whose workflow no longer exists', () => {
  it('are started again, unlike checks whose workflow exists', async () => {
    const [lost, other] = [await publishUnchecked('lost-check'), await publishUnchecked('other-check')];
    await rows('update template_checks set tries = 3 where id = ?', [lost]);
    await waitUntilDispatched();
    await terminate({ idempotency_key: lost });
    await reconcile(deps, 3_600);
    expect(await checksOf('lost-check')).toEqual([{ id: lost, tries: 3 }]);
    await reconcile(deps, 0);
    const [restarted] = await checksOf('lost-check');
    expect(restarted).toEqual({ id: expect.not.stringMatching(lost), tries: 3 });
    await waitUntilDispatched();
    const { status } = await engine.client.workflow.getHandle(restarted?.id ?? '').describe();
    expect(status.name).toBe('RUNNING');
    expect(await checksOf('other-check')).toMatchObject([{ id: other }]);
    await reconcile(deps, 0);
    expect(await checksOf('lost-check')).toEqual([restarted]);
  });

  it('are started again, even if there are many', async () => {
    const names = Array.from({ length: 7 }, (_, number) => `many-checks-${number}`);
    const ids = await Promise.all(names.map(publishUnchecked));
    await waitUntilDispatched();
    await Promise.all(ids.map((id) => terminate({ idempotency_key: id })));
    logged = [];
    await reconcile(deps, 0);
    expect(logged.map(({ msg }) => msg)).toEqual(
      names.map(() => expect.stringContaining('restarted the check of a version')),
    );
  });

  it('end with a reason if they have waited too long', async () => {
    const id = await publishUnchecked('old-check');
    await waitUntilDispatched();
    await terminate({ idempotency_key: id });
    await rows(`update template_checks set created_at = now() - interval '8 days' where id = ?`, [id]);
    await reconcile(deps, 0);
    expect(await checksOf('old-check')).toEqual([]);
    expect(await resultOf('old-check')).toMatchObject([
      { check: { state: 'not_done', notChecked: [expect.stringContaining('no worker of the pool')] } },
    ]);
  });
});
