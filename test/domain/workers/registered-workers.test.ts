import { afterAll, beforeEach, expect, test } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { deregisterWorker, recordHeartbeat, registerWorker, requestDrain } from '#domain/workers/store.ts';
import { openDatabase } from '#open-database';
import { createDatabase } from '#test/support/database/database.ts';

const database = await createDatabase();
const orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
afterAll(async () => {
  await orm.close();
  await database.drop();
});

const tools = [{ name: 'tofu', version: '1.10.0' }];
let id = '';
beforeEach(async () => {
  id = newId();
  const sandbox = { isolation: 'sandbox', isolationReason: null, limits: 'process', takesChecks: true } as const;
  const facts = { host: 'a', processId: 1, version: '1', pools: ['default'], tools, concurrency: 1, ...sandbox };
  await registerWorker(orm.em.fork(), { id, ...facts });
});

const drain = (worker: string) => orm.em.fork().transactional((em) => requestDrain(em, worker));
const readRow = async () =>
  (
    await orm.em
      .fork()
      .execute('select extract(year from drain_requested_at)::int as year, tools from workers where id = ?', [id])
  )[0];

test('a second request to drain a worker keeps the time of the first', async () => {
  expect(await drain(id)).toBe(true);
  await orm.em.fork().execute(`update workers set drain_requested_at = '2020-01-01' where id = ?`, [id]);
  expect(await drain(id)).toBe(true);
  expect(await readRow()).toEqual({ year: 2020, tools });
});

test('a worker that does not exist cannot be drained', async () => {
  expect(await drain(newId())).toBe(false);
});

test('a deregistered worker must register again, and to deregister it once more changes nothing', async () => {
  await deregisterWorker(orm.em.fork(), id);
  await deregisterWorker(orm.em.fork(), id);
  const answer = await recordHeartbeat(orm.em.fork(), { id, draining: false, tools });
  expect(answer.state).toBe('unregistered');
});
