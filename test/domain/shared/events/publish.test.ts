import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Orm } from '#database/database.ts';
import { eventTypes } from '#domain/events.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { listEventsOf } from '#domain/shared/events/event-store.ts';
import type { EventType } from '#domain/shared/events/event-type.ts';
import type { NewEvent } from '#domain/shared/events/publish.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { lockSubject, newSubjects, publishCounted } from '#test/support/events.ts';

let database: TestDatabase;
let orm: Orm;
let transactions: Transactions;
let subject: string;
beforeAll(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 12 });
  transactions = new Transactions(orm, { dispatch: () => undefined });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});
beforeEach(() => {
  subject = randomUUID();
});

const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);
const eventsOf = (id: string) => listEventsOf(orm.em.fork(), { kind: 'run', id }, { after: 0, limit: 1000 });

describe('an event', () => {
  it('stores the subject, the owners of the subject, the actor and the number', async () => {
    const [organization, team, user] = [randomUUID(), randomUUID(), randomUUID()];
    await execute(
      `insert into organizations (id, name, slug, created_at) values (?, 'North', 'north', now())`,
      organization,
    );
    await execute(
      `insert into teams (id, organization_id, name, slug, created_at) values (?, ?, 'Web', 'web', now())`,
      ...[team, organization],
    );
    const actor = { id: user, kind: 'user', name: 'Ana' } as const;
    await transactions.run(
      async (tx) => {
        tx.publish({ type: 'run.planning', subjectId: subject, owners: { teamId: team }, data: {} });
        tx.publish({ type: 'run.deleted', subjectId: subject, owners: { teamId: team }, data: { by: 'Ana' } });
      },
      { actor },
    );
    const common = {
      subject: { kind: 'run', id: subject },
      organizationId: organization,
      teamId: team,
      actor: { type: 'user', id: user, name: 'Ana' },
    };
    expect(await eventsOf(subject)).toMatchObject([
      { ...common, type: 'run.planning', sequence: 1, data: {} },
      { ...common, type: 'run.deleted', sequence: 2, data: { by: 'Ana' } },
    ]);
  });

  it('is not written if the transaction is rolled back', async () => {
    const failing = transactions.run(async (tx) => {
      publishCounted(tx, subject, 1);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await eventsOf(subject)).toEqual([]);
  });

  it.each([
    ['a field that its schema does not name', { by: 'Ana', password: 'hunter2' }, /password/],
    ['a field that is missing', {}, /by/],
    ['a field of another type', { by: { token: 'hunter2' } }, /by/],
  ])('is refused with %s, and the transaction with it', async (_case, data, message) => {
    const event = { type: 'run.deleted', subjectId: subject, owners: { teamId: null }, data } as NewEvent;
    const publishing = transactions.run(async (tx) => tx.publish(event));
    await expect(publishing).rejects.toThrow(message);
    await expect(publishing).rejects.not.toThrow(/hunter2/);
    expect(await eventsOf(subject)).toEqual([]);
  });
});

describe('the numbers of a subject', () => {
  it('have no gaps and ascend in the order of the commits, however many transactions publish at once', async () => {
    const subjects = newSubjects(3);
    const publishOne = (id: string, count: number) =>
      transactions.run(async (tx) => {
        await lockSubject(tx.em, id);
        publishCounted(tx, id, count);
        if (count % 3 === 0) publishCounted(tx, id, count);
      });
    await Promise.all(subjects.flatMap((id) => Array.from({ length: 40 }, (_, count) => publishOne(id, count))));
    for (const id of subjects) {
      const rows = await execute<{ sequence: number }>(
        `select sequence from domain_events where subject_id = ?
          order by pg_xact_commit_timestamp(transaction_id::xid), sequence`,
        id,
      );
      expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 54 }, (_, index) => index + 1));
    }
  });

  it('are assigned once each, even if publishers do not lock the subject', async () => {
    await Promise.all([1, 2, 3].map((count) => transactions.run(async (tx) => publishCounted(tx, subject, count))));
    const events = await eventsOf(subject);
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(events.map(({ data }) => data['by']).sort()).toEqual(['1', '2', '3']);
  });
});

describe('the catalogue of events', () => {
  const types: [string, EventType][] = Object.entries(eventTypes);
  const secretName = /pass(word|phrase)|secret|token|credential|private|content|variables|outputs|^(api_)?key$/i;

  it.each(types)('names the subject of %s in its type, and says what happened', (name, { subject: kind, summary }) => {
    expect(name.startsWith(`${kind}.`)).toBe(true);
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
  });

  it.each(types)('holds no secret in %s, and refuses every other field', (_name, { data }) => {
    const schema = z.toJSONSchema(data) as {
      properties?: Record<string, { type?: string }>;
      additionalProperties?: unknown;
    };
    expect(schema.additionalProperties).toBe(false);
    // A count of outputs is no output.
    const texts = Object.entries(schema.properties ?? {}).filter(([, { type }]) => type !== 'integer');
    expect(texts.map(([field]) => field).filter((field) => secretName.test(field))).toEqual([]);
  });
});
