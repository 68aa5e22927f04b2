import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { EventDelivery, type EventHandler } from '#engine/event-delivery.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { lockSubject, newSubjects, publishCounted, subscribe } from '#test/support/events.ts';
import { eagerSignals } from '#test/support/signals.ts';

const log = pino({ level: 'silent' });
let database: TestDatabase;
let orm: Orm;
let open: EventDelivery[];
beforeEach(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 16 });
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((delivery) => delivery.stop()));
  await orm?.close();
  await database?.drop();
});

const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);
const waiting = async () => (await execute<{ subscriber: string }>('select subscriber from outbox order by id')).length;

function deliver(handlers: Record<string, EventHandler>): void {
  const delivery = new EventDelivery({ orm, log, signals: eagerSignals }, handlers);
  open.push(delivery);
  delivery.start();
}

/** Publishes so many events of each subject, all subjects at the same time. */
async function publishAll(subjects: readonly string[], each: number, subscribers: readonly string[]): Promise<void> {
  const transactions = new Transactions(orm, { dispatch: () => undefined }, subscribers.map(subscribe));
  await Promise.all(
    subjects.map(async (subject) => {
      for (let count = 1; count <= each; count += 1) {
        await transactions.run(async (tx) => {
          await lockSubject(tx.em, subject);
          publishCounted(tx, subject, count);
        });
      }
    }),
  );
}

class Received {
  readonly events: PublishedEvent[] = [];
  readonly handle: EventHandler = async (event) => void this.events.push(event);

  numbersOf(subject: string): number[] {
    return this.events.filter((event) => event.subject.id === subject).map(({ sequence }) => sequence);
  }
}

/** Runs `publishing-process.ts`, which ends by SIGKILL. */
async function runKilled(...args: string[]): Promise<void> {
  const program = join(import.meta.dirname, '../../../support/programs/publishing-process.ts');
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

describe('a subscriber', () => {
  it('receives the events of each subject once and in order, while others publish and several processes deliver', async () => {
    const received = new Received();
    const slow: EventHandler = async (event) => {
      await sleep((event.sequence * 3) % 5);
      await received.handle(event);
    };
    for (let index = 0; index < 3; index += 1) deliver({ webhooks: slow });
    const subjects = newSubjects(6);
    await publishAll(subjects, 5, ['webhooks']);
    await expect.poll(waiting).toBe(0);
    for (const subject of subjects) expect(received.numbersOf(subject)).toEqual([1, 2, 3, 4, 5]);
  });

  it('receives only the types of events that it declares', async () => {
    const received = new Received();
    const transactions = new Transactions(orm, { dispatch: () => undefined }, [
      { subscriber: 'webhooks', types: ['run.finished'] },
    ]);
    const subject = randomUUID();
    await transactions.run(async (tx) => {
      publishCounted(tx, subject, 1);
      const data = { status: 'succeeded', reason: null } as const;
      tx.publish({ type: 'run.finished', subjectId: subject, owners: { teamId: null }, data });
    });
    deliver({ webhooks: received.handle });
    await expect.poll(waiting).toBe(0);
    expect(received.events).toMatchObject([{ type: 'run.finished', sequence: 2 }]);
  });

  it('a subscriber that fails does not delay others, and receives everything in order once it works again', async () => {
    const [healthy, failing] = [new Received(), new Received()];
    let isBroken = true;
    const handle: EventHandler = async (event) => {
      if (isBroken) throw new Error('the endpoint answers 500');
      await failing.handle(event);
    };
    const subjects = newSubjects(5);
    await publishAll(subjects, 3, ['webhooks', 'notifications']);
    deliver({ webhooks: handle, notifications: healthy.handle });
    await expect.poll(() => healthy.events.length).toBe(15);
    const failures = async () => {
      const failed = `select last_error from outbox where subscriber = 'webhooks' and attempts > 0`;
      return (await execute<{ last_error: string }>(failed)).map((row) => row.last_error);
    };
    await expect.poll(failures).toEqual(subjects.map(() => 'the endpoint answers 500'));
    await expect.poll(waiting).toBe(15);
    isBroken = false;
    await execute('update outbox set due_at = now()');
    await expect.poll(waiting).toBe(0);
    for (const subject of subjects) expect(failing.numbersOf(subject)).toEqual([1, 2, 3]);
  });

  it('a subscriber that fails for one subject receives the events of the others', async () => {
    const received = new Received();
    const [poisoned = '', healthy = ''] = newSubjects(2);
    await publishAll([poisoned, healthy], 3, ['webhooks']);
    deliver({
      webhooks: async (event) => {
        if (event.subject.id === poisoned) throw new Error('cannot take this one');
        await received.handle(event);
      },
    });
    await expect.poll(() => received.numbersOf(healthy)).toEqual([1, 2, 3]);
    expect(received.numbersOf(poisoned)).toEqual([]);
    await expect.poll(waiting).toBe(3);
  });

  it('a subscriber that does not return does not delay others', async () => {
    const received = new Received();
    let release: () => void = () => undefined;
    const stuck = new Promise<void>((resolve) => {
      release = resolve;
    });
    await publishAll(newSubjects(3), 2, ['webhooks', 'notifications']);
    deliver({ webhooks: () => stuck, notifications: received.handle });
    await expect.poll(() => received.events.length).toBe(6);
    release();
  });
});

describe('a row of the outbox that a subscriber cannot receive', () => {
  const problems = async () => {
    const rows = await execute<{ id: string; last_error: string }>(
      'select id::text, last_error from outbox where last_error is not null',
    );
    return rows.map(({ id, last_error }) => last_error.replace(`row ${id} `, 'row <id> '));
  };

  it('stays in the outbox with an error if its event does not exist', async () => {
    const received = new Received();
    await publishAll(newSubjects(1), 1, ['webhooks']);
    const [event] = await execute<{ id: string }>('delete from domain_events returning id');
    deliver({ webhooks: received.handle });
    const problem = `row <id> of the outbox names the event ${event?.id} for the subscriber "webhooks", but there is no such event`;
    await expect.poll(problems).toEqual([problem]);
    expect(received.events).toEqual([]);
  });

  it('stays in the outbox with an error if it is a message to the engine', async () => {
    const received = new Received();
    await execute(
      `insert into outbox (subscriber, target, payload, created_at, due_at) values ('webhooks', 'a', '{"kind": "cancel"}', now(), now())`,
    );
    deliver({ webhooks: received.handle });
    const problem =
      'row <id> of the outbox holds a message to a workflow ("cancel"), but its subscriber "webhooks" receives events';
    await expect.poll(problems).toEqual([problem]);
    expect(received.events).toEqual([]);
  });
});

describe('a process that is killed', () => {
  it('a process that is killed between commit and delivery loses neither its events nor its messages to the engine', async () => {
    const received = new Received();
    const [subject, workflow] = [randomUUID(), randomUUID()];
    await runKilled('publish', database.url, subject, workflow);
    deliver({ webhooks: received.handle });
    await expect.poll(() => received.numbersOf(subject)).toEqual([1]);
    const left = () => execute('select subscriber, target from outbox');
    await expect.poll(left).toEqual([{ subscriber: 'engine', target: workflow }]);
  });

  it('a process that is killed between delivery and the removal from the outbox leaves the event to be delivered again, with the same id', async () => {
    const received = new Received();
    const subject = randomUUID();
    const file = join(inject('scratchDirectory'), randomUUID());
    await publishAll([subject], 1, ['webhooks']);
    await runKilled('deliver', database.url, file);
    deliver({ webhooks: received.handle });
    await expect.poll(waiting).toBe(0);
    expect(`${received.events.map(({ id }) => id).join()}\n`).toBe(readFileSync(file, 'utf8'));
  });

  it('an event that kills the process is delivered alone with growing pauses, and the others are delivered', async () => {
    const [poison = '', ...healthy] = newSubjects(12);
    await publishAll([poison], 1, ['webhooks']);
    await publishAll(healthy, 1, ['webhooks']);
    const file = join(inject('scratchDirectory'), randomUUID());
    for (let killed = 1; killed <= 3; killed += 1) {
      const [before] = await execute<{ now: Date }>('select clock_timestamp() as now');
      await runKilled('poisoned', database.url, file, poison);
      const [oldest] = await execute(
        `select attempts, due_at >= ?::timestamptz + make_interval(secs => ?) as "isPutOff" from outbox order by id limit 1`,
        before?.now,
        2 ** (killed - 1),
      );
      expect(oldest).toEqual({ attempts: killed, isPutOff: true });
    }
    const delivered = readFileSync(file, 'utf8').trim().split('\n');
    expect(new Set(delivered).size, 'all others, before the third').toBe(healthy.length);
    const received = new Received();
    deliver({ webhooks: received.handle });
    await expect.poll(waiting).toBe(0);
    expect(received.events, 'in a process that it does not kill').toMatchObject([{ subject: { id: poison } }]);
  });
});
