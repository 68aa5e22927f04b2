import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import type { EngineMessage } from '#domain/shared/events/outbox.ts';
import { openInstallation } from '#domain/shared/installation/installation.ts';
import { KeyRing, SealUnopened } from '#domain/shared/secrets.ts';
import { type Engine, openEngine } from '#engine/connection.ts';
import { Dispatcher } from '#engine/dispatcher.ts';
import { openEngineSweeper } from '#engine/engine-sweeper.ts';
import { openDatabase } from '#open-database';
import { createTestConfig } from '#test/support/config.ts';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { eagerSignals } from '#test/support/signals.ts';
import { createNamespace } from '#test/support/system.ts';

const log = pino({ level: 'silent' });
let database: TestDatabase;
let orm: Orm;
let engine: Engine;
let nowhere: Engine;
let installationId: string;
let dataDir: string | undefined;

beforeAll(async () => {
  database = await createDatabase();
  const config = createTestConfig(database.url, { TEMPORAL_NAMESPACE: await createNamespace() });
  dataDir = config.dataDir;
  orm = openDatabase(config);
  engine = openEngine(config.temporal);
  nowhere = openEngine({ ...config.temporal, address: '127.0.0.1:1' });
  installationId = (await openInstallation(orm, new KeyRing(config.secretKeys))).id;
});
afterAll(async () => {
  await Promise.all([engine?.close(), nowhere?.close()]);
  await orm?.close();
  await database?.drop();
  if (dataDir) rmSync(dataDir, { recursive: true, force: true });
});

const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);
const start = (): EngineMessage => ({ kind: 'start', workflow: 'run', input: { run_id: randomUUID() } });
const leave = (target: string, payload: EngineMessage, attempts = 0) =>
  execute(
    `insert into outbox (target, payload, created_at, due_at, attempts) values (?, ?, now(), now(), ?)`,
    ...[target, JSON.stringify(payload), attempts],
  );
const left = async () =>
  (await execute<{ target: string }>('select target from outbox order by id')).map(({ target }) => target);
const exists = (workflowId: string) =>
  engine.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      () => true,
      () => false,
    );

async function whileSweeping(engines: readonly Engine[], until: () => Promise<void>): Promise<void> {
  const sweepers = engines.map(({ client }) =>
    openEngineSweeper({ client, orm, installationId, log, signals: eagerSignals }),
  );
  for (const sweeper of sweepers) sweeper.start();
  try {
    await until();
  } finally {
    await Promise.all(sweepers.map((sweeper) => sweeper.stop()));
  }
}

describe("sweepers of the engine's outbox", () => {
  it('deliver each message once and those of one workflow in order, even if several sweepers run', async () => {
    const targets = Array.from({ length: 30 }, () => randomUUID());
    for (const target of targets) {
      await leave(target, start());
      await leave(target, { kind: 'signal', signal: 'wake' });
    }
    await whileSweeping([engine, engine], () => expect.poll(left).toEqual([]));
    for (const target of targets) {
      const { events } = await engine.client.workflow.getHandle(target).fetchHistory();
      const signals = events?.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal) ?? [];
      expect(signals).toHaveLength(1);
    }
  });

  it('pause longer after each failure while the engine is unreachable, and never give up', async () => {
    const [fresh, ancient] = [randomUUID(), randomUUID()];
    await leave(fresh, start());
    await leave(ancient, start(), 100_000);
    const tried = () =>
      execute<{ attempts: number; wait: number; last_error: string }>(
        `select attempts, extract(epoch from due_at - now())::int as wait, last_error from outbox order by id`,
      );
    await whileSweeping([nowhere], () =>
      expect.poll(tried).toMatchObject([{ attempts: expect.any(Number) }, { attempts: 100_001 }]),
    );
    const [first, second] = await tried();
    expect(first?.wait).toBeLessThan(10);
    expect(second?.wait).toBeLessThanOrEqual(32);
    expect(second?.last_error).toMatch(/\S/);
    await execute('update outbox set due_at = now()');
    await whileSweeping([engine], () => expect.poll(left).toEqual([]));
    expect(await Promise.all([fresh, ancient].map(exists))).toEqual([true, true]);
  });

  it('deliver other messages although a foreign workflow has the id of one', async () => {
    const [taken, free] = [randomUUID(), randomUUID()];
    await engine.client.workflow.start('other', { workflowId: taken, taskQueue: 'elsewhere' });
    await leave(taken, start());
    await leave(free, start());
    await whileSweeping([engine], () => expect.poll(left).toEqual([taken]));
    const [row] = await execute<{ last_error: string }>('select last_error from outbox');
    expect(row?.last_error).toMatch(/this installation did not start/);
    expect(await exists(free)).toBe(true);
    await execute('delete from outbox');
  });

  it('remove messages to a workflow that was already started or has ended', async () => {
    const target = randomUUID();
    const payload = start();
    for (let index = 0; index < 2; index += 1) {
      await leave(target, payload);
      await whileSweeping([engine], () => expect.poll(left).toEqual([]));
    }
    await engine.client.workflow.getHandle(target).terminate();
    await leave(target, { kind: 'cancel' });
    await leave(randomUUID(), { kind: 'signal', signal: 'wake' });
    await whileSweeping([engine], () => expect.poll(left).toEqual([]));
  });
});

describe('the process that committed', () => {
  it('delivers its messages at once and removes them from the outbox', async () => {
    const dispatcher = new Dispatcher({ client: engine.client, orm, installationId, log, signals: eagerSignals });
    const transactions = new Transactions(orm, dispatcher);
    const targets = Array.from({ length: 40 }, () => randomUUID());
    await Promise.all(targets.map((target) => transactions.run(async (tx) => tx.notifyEngine(target, start()))));
    await dispatcher.drain(10_000);
    expect(dispatcher.pending).toBe(0);
    expect(await left()).toEqual([]);
    expect((await Promise.all(targets.map(exists))).every(Boolean)).toBe(true);
  });

  it('delivers nothing that was rolled back', async () => {
    const dispatched: unknown[] = [];
    const transactions = new Transactions(orm, { dispatch: (messages) => dispatched.push(...messages) });
    const failing = transactions.run(async (tx) => {
      tx.notifyEngine(randomUUID(), start());
      await tx.em.flush();
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect([dispatched, await left()]).toEqual([[], []]);
  });

  it('leaves a message to the sweeper while the outbox has an older one for the same workflow', async () => {
    const dispatched: string[] = [];
    const transactions = new Transactions(orm, {
      dispatch: (messages) => dispatched.push(...messages.map(({ target, payload }) => `${payload.kind} ${target}`)),
    });
    const [busy, idle] = [randomUUID(), randomUUID()];
    await transactions.run(async (tx) => {
      tx.notifyEngine(busy, start());
      tx.notifyEngine(busy, { kind: 'signal', signal: 'wake' });
    });
    await transactions.run(async (tx) => {
      tx.notifyEngine(busy, { kind: 'cancel' });
      tx.notifyEngine(idle, start());
    });
    expect(dispatched).toEqual([`start ${busy}`, `signal ${busy}`, `start ${idle}`]);
    expect(await left()).toEqual([busy, busy, busy, idle]);
    await execute('delete from outbox');
  });

  it('leaves a message that it cannot deliver in the outbox, and the next ones of that workflow too', async () => {
    const dispatcher = new Dispatcher({ client: nowhere.client, orm, installationId, log, signals: eagerSignals });
    const transactions = new Transactions(orm, dispatcher);
    const target = randomUUID();
    await transactions.run(async (tx) => {
      tx.notifyEngine(target, start());
      tx.notifyEngine(target, { kind: 'signal', signal: 'wake' });
    });
    await dispatcher.drain(10_000);
    expect(await left()).toEqual([target, target]);
    await execute('delete from outbox');
  });
});

describe('an installation', () => {
  it('is created once, even if several processes start at the same time', async () => {
    const fresh = await createDatabase();
    const pools = Array.from({ length: 4 }, () => openDatabase({ databaseUrl: fresh.url, databasePoolSize: 4 }));
    try {
      const ring = new KeyRing([{ id: 'a', key: Buffer.alloc(32, 1) }]);
      const opened = await Promise.all(
        Array.from({ length: 12 }, (_, index) => openInstallation(pools[index % 4]!, ring)),
      );
      expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
      expect(new Set(opened.map(({ bindingKey }) => bindingKey.toString('hex'))).size).toBe(1);
      const rotated = new KeyRing([
        { id: 'b', key: Buffer.alloc(32, 2) },
        { id: 'a', key: Buffer.alloc(32, 1) },
      ]);
      expect((await openInstallation(pools[0]!, rotated)).sessionKey).toEqual(opened[0]?.sessionKey);
      const foreign = new KeyRing([{ id: 'b', key: Buffer.alloc(32, 2) }]);
      const unopened = await openInstallation(pools[0]!, foreign);
      expect(unopened).toMatchObject({
        id: opened[0]?.id,
        problem: expect.stringMatching(/COORDINATOR_SECRET_KEYS .* no key in the ring opens this value \(key id "a"\)/),
      });
      expect(() => unopened.sessionKey).toThrow(SealUnopened);
      expect(() => unopened.bindingKey).toThrow(SealUnopened);
    } finally {
      await Promise.all(pools.map((pool) => pool.close()));
      await fresh.drop();
    }
  });
});
