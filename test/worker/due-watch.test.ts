import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { outboxTopic, sendingTopics } from '#domain/shared/events/topics.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { LocalSignals } from '#test/support/signals.ts';
import { DueWatch } from '#worker/background/due-watch.ts';

const log = pino({ level: 'silent' });
let database: TestDatabase;
let orm: Orm;
const open: DueWatch[] = [];

beforeAll(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 8 });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((watch) => watch.stop()));
  for (const table of ['outbox', 'outgoing_messages', 'periodic_work']) await execute(`delete from ${table}`);
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

const execute = (sql: string, ...params: unknown[]) => orm.em.fork().execute(sql, params);

/** The due watch of one worker, and what it has woken. */
function watch(works: readonly { name: string; seconds: number }[] = [], subscribers: readonly string[] = []) {
  const signals = new LocalSignals();
  const woken: string[] = [];
  const taken: string[] = [];
  for (const topic of [...subscribers.map(outboxTopic), ...Object.values(sendingTopics)])
    signals.on([topic], () => woken.push(topic));
  const onTaken = (name: string) => void taken.push(name);
  const dueWatch = new DueWatch({ orm, log, signals }, { subscribers, works, onTaken });
  open.push(dueWatch);
  dueWatch.start();
  return { woken, taken };
}

const addRow = (subscriber: string, dueIn: string) =>
  execute(
    `insert into outbox (subscriber, target, payload, created_at, due_at) values (?, 'target', '{}', now(), now() + ?::interval)`,
    subscriber,
    dueIn,
  );

describe('work that one worker does for all', () => {
  it('is taken by one worker, again after its interval, and not before the first one', async () => {
    const works = [{ name: 'tidy up', seconds: 1 }];
    const began = performance.now();
    const workers = [watch(works), watch(works), watch(works)];
    const times = () => workers.flatMap(({ taken }) => taken).length;
    await expect.poll(times, { timeout: 20_000 }).toBe(1);
    expect(performance.now() - began).toBeGreaterThan(900);
    await expect.poll(times, { timeout: 20_000 }).toBe(2);
    const [row] = await orm.em.fork().execute<{ n: number }[]>('select count(*)::int as n from periodic_work');
    expect(row?.n).toBe(1);
  });
});

describe('a row of the outbox', () => {
  it('wakes its subscriber when it is due, and no other', async () => {
    await addRow('early', '-1 second');
    await addRow('late', '2 seconds');
    await addRow('far', '1 hour');
    const { woken } = watch([], ['early', 'late', 'far', 'unused']);
    await expect.poll(() => woken).toContain(outboxTopic('early'));
    expect(woken).not.toContain(outboxTopic('late'));
    await expect.poll(() => woken, { timeout: 4_500 }).toContain(outboxTopic('late'));
    expect(woken).not.toContain(outboxTopic('far'));
    expect(woken).not.toContain(outboxTopic('unused'));
  });
});

describe('a message that waits to be sent', () => {
  it('wakes the senders of messages', async () => {
    await execute(
      `insert into outgoing_messages (id, medium, address, destination, cause, content, status, attempts, due_at, created_at)
       values (gen_random_uuid(), 'email', 'a@example.com', 'a@example.com', 'a test', '{}', 'pending', 0, now(), now())`,
    );
    const { woken } = watch();
    await expect.poll(() => woken).toContain(sendingTopics.messages);
    expect(woken).not.toContain(sendingTopics.webhooks);
  });
});
