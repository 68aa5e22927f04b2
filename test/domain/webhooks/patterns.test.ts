import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId, zeroId } from '#domain/shared/ids.ts';
import { fanOutEvents, fanOutRecords } from '#domain/webhooks/deliveries/fan-out-store.ts';
import { auditStream, matchesEvent } from '#domain/webhooks/model.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { oddPatterns, oddTypes } from '#test/support/notifications/patterns.ts';

/** The SQL statements that create deliveries select webhooks as `matchesEvent` does. */
let api: TestApi;
let admin: ApiUser;
const patternOf = new Map<string, string>();

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  for (const pattern of oddPatterns) patternOf.set(await addWebhook(pattern), pattern);
});
afterAll(() => api?.close());

/** A webhook of the installation with one pattern, even one that a request would not be allowed to set. */
async function addWebhook(pattern: string): Promise<string> {
  const { id } = await admin.make('/admin/webhooks', { name: 'Chat', url: 'https://1.1.1.1/', events: ['*'] });
  await api.rows('update webhooks set events = ?::jsonb where id = ?', [JSON.stringify([pattern]), id]);
  return id;
}

async function addEvent(type: string): Promise<string> {
  const id = newId();
  await api.rows(
    `insert into domain_events (id, subject_kind, subject_id, sequence, type, data, actor_id, actor_type, actor_name, created_at)
     values (?, 'test', ?, 1, ?, '{}', ?, 'user', 'Ada', now())`,
    [id, newId(), type, admin.id],
  );
  return id;
}

const hearing = async (eventId: string) => {
  const sql = 'select webhook_id as id from webhook_deliveries where event_id = ?';
  return (await api.rows<{ id: string }>(sql, [eventId])).map(({ id }) => patternOf.get(id)).sort();
};

it.each(oddTypes)('an event of the type %s reaches the webhooks whose pattern matches it', async (type) => {
  const event = await addEvent(type);
  await fanOutEvents(api.services.orm.em.fork(), [event]);
  expect(await hearing(event)).toEqual(oddPatterns.filter((pattern) => matchesEvent(pattern, type)).sort());
});

it('a record of the audit reaches the webhooks whose pattern matches the stream of the audit', async () => {
  await admin.make('/organizations', { name: 'Northwind' });
  const [record] = await api.rows<{ id: string }>(
    `select id from audit_records where outcome = 'committed' order by at desc, id desc limit 1`,
  );
  const after = { at: '2020-01-01T00:00:00.000Z', id: zeroId };
  const settled = new Date(Date.now() + 60_000).toISOString();
  await fanOutRecords(api.services.orm.em.fork(), { after, settled, limit: 1000 });
  const matching = oddPatterns.filter((pattern) => matchesEvent(pattern, auditStream)).sort();
  expect(matching.length).toBeGreaterThan(0);
  expect(await hearing(record?.id ?? '')).toEqual(matching);
});
