import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { runTogether } from '#database/queries.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import type { EventCursor } from '#domain/shared/events/cursor.ts';
import { readEventsAfter, startCursor } from '#domain/shared/events/cursor-store.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { insertEvents } from '#domain/shared/events/insert-store.ts';
import { toPendingEvent } from '#domain/shared/events/publish.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { lockSubject, newSubjects, publishCounted } from '#test/support/events.ts';

let database: TestDatabase;
let orm: Orm;
let transactions: Transactions;
beforeAll(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 12 });
  transactions = new Transactions(orm, { dispatch: () => undefined });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

const publish = (subject: string, count = 1) =>
  transactions.run(async (tx) => {
    await lockSubject(tx.em, subject);
    publishCounted(tx, subject, count);
  });

/** Writes an event in a transaction that stays open until the returned function commits it. */
async function writeUncommitted(subject: string): Promise<() => Promise<void>> {
  const em = orm.em.fork();
  await em.begin();
  const data = { by: 'late', operation: 'apply' } as const;
  const event = { type: 'run.admitted', subjectId: subject, owners: { teamId: null }, data } as const;
  await runTogether(em, [], insertEvents([toPendingEvent(event, systemPrincipal('test'))]));
  return () => em.commit();
}

class Reader {
  #cursor: EventCursor | undefined;
  readonly seen: PublishedEvent[] = [];

  static async start(): Promise<Reader> {
    const reader = new Reader();
    reader.#cursor = await startCursor(orm.em.fork());
    return reader;
  }

  /** Reads one page and answers the subjects of its events. */
  async read(limit = 100): Promise<string[]> {
    if (!this.#cursor) throw new Error('the reader has not started');
    // A cursor survives being kept as text.
    const kept = JSON.parse(JSON.stringify(this.#cursor)) as EventCursor;
    const { events, cursor } = await readEventsAfter(orm.em.fork(), kept, limit);
    this.#cursor = cursor;
    this.seen.push(...events);
    return events.map(({ subject }) => subject.id);
  }
}

describe('a reader with a cursor', () => {
  it('receives later events before an earlier event commits, and the earlier one afterwards', async () => {
    const [late = '', early = ''] = newSubjects(2);
    const reader = await Reader.start();
    const commit = await writeUncommitted(late);
    await publish(early);
    expect(await reader.read()).toEqual([early]);
    expect(await reader.read()).toEqual([]);
    await commit();
    expect(await reader.read()).toEqual([late]);
    expect(await reader.read()).toEqual([]);
    const rows = await orm.em
      .fork()
      .execute<{ subject_id: string }[]>(
        'select subject_id from domain_events where subject_id = any(?::uuid[]) order by position',
        [`{${late},${early}}`],
      );
    expect(
      rows.map((row) => row.subject_id),
      'the late event has the lower position',
    ).toEqual([late, early]);
  });

  it('receives an event that commits while it is between two pages', async () => {
    const [late = '', ...others] = newSubjects(4);
    const reader = await Reader.start();
    const commit = await writeUncommitted(late);
    for (const subject of others) await publish(subject);
    expect(await reader.read(2)).toEqual(others.slice(0, 2));
    await commit();
    expect(await reader.read(2)).toEqual([...others.slice(2), late]);
    expect(await reader.read(2)).toEqual([]);
  });

  it('receives nothing from before it began, and nothing that was rolled back', async () => {
    await publish(randomUUID());
    const reader = await Reader.start();
    await expect(
      transactions.run(async (tx) => {
        publishCounted(tx, randomUUID(), 1);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await reader.read()).toEqual([]);
  });

  it('receives everything once, and each subject in order, while many transactions commit in any order', async () => {
    const subjects = newSubjects(8);
    const reader = await Reader.start();
    const writing = Promise.all(
      subjects.map(async (subject, index) => {
        for (let count = 1; count <= 15; count += 1) {
          await transactions.run(async (tx) => {
            await lockSubject(tx.em, subject);
            // Takes the id of the transaction now, and commits later than others do.
            await tx.em.execute('select pg_current_xact_id()');
            await sleep((index * 3 + count * 5) % 8);
            publishCounted(tx, subject, count);
          });
        }
      }),
    ).then(() => 'written');
    for (let state = 'writing'; state !== 'written'; state = await Promise.race([writing, sleep(3, 'writing')]))
      await reader.read(7);
    while ((await reader.read(7)).length > 0);
    for (const subject of subjects) {
      const events = reader.seen.filter((event) => event.subject.id === subject);
      expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
    }
  });

  it('receives what was committed between two pages, even if the first page was exactly full', async () => {
    const reader = await Reader.start();
    const [first, second] = [randomUUID(), randomUUID()];
    await publish(first);
    expect(await reader.read(1)).toEqual([first]);
    await publish(second);
    expect(await reader.read(1)).toEqual([second]);
    expect(await reader.read(1)).toEqual([]);
  });

  it('receives only what its filter names', async () => {
    const [wanted, other] = [randomUUID(), randomUUID()];
    const cursor = await startCursor(orm.em.fork());
    const publishFor = (teamId: string) =>
      transactions.run(async (tx) =>
        tx.publish({ type: 'run.planning', subjectId: randomUUID(), owners: { teamId }, data: {} }),
      );
    await publishFor(wanted);
    await publishFor(other);
    const read = (filter: Parameters<typeof readEventsAfter>[3]) => readEventsAfter(orm.em.fork(), cursor, 10, filter);
    expect((await read({ teamIds: [wanted] })).events).toMatchObject([{ teamId: wanted }]);
    expect((await read({ subjectKind: 'run' })).events).toHaveLength(2);
    expect((await read({ subjectKind: 'worker' })).events).toEqual([]);
  });
});
