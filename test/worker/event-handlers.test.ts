import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { eventSubscriptions } from '#domain/event-subscriptions.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { runSystemCommand } from '#domain/shared/commands/system-command.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { EventDelivery, type EventHandler } from '#engine/event-delivery.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { newSubjects, publishCounted, subscribe } from '#test/support/events.ts';
import { eagerSignals } from '#test/support/signals.ts';
import { createEventHandlers, type EventHandlerDeps } from '#worker/background/event-handlers.ts';

let database: TestDatabase;
let orm: Orm;
let deps: EventHandlerDeps;
let delivery: EventDelivery | undefined;
beforeEach(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 16 });
  // No event of these tests starts a run.
  const unused = { keyRing: new KeyRing([{ id: 'only', key: Buffer.alloc(32, 1) }]), evaluator: new Evaluator() };
  const transactions = new Transactions(orm, { dispatch: () => undefined }, [subscribe('supervision')]);
  deps = { orm, log: pino({ level: 'silent' }), transactions, bindingKey: Buffer.alloc(32, 1), ...unused };
});
afterEach(async () => {
  await delivery?.stop();
  await orm?.close();
  await database?.drop();
});

const count = async (from: string) => {
  const [row] = await orm.em.fork().execute<{ n: number }[]>(`select count(*)::int as n from ${from}`);
  return row?.n;
};

/**
 * Creates a subscriber as the worker does. For each admitted run, it reports that a worker is lost. Its first `failures` calls fail after
 * that.
 */
function createSupervision({ transactions, bindingKey }: EventHandlerDeps, failures: number): EventHandler {
  let calls = 0;
  return async ({ id, subject }) => {
    const command = { action: 'worker.lost', target: { id: subject.id }, cause: id } as const;
    await runSystemCommand({ transactions, bindingKey }, command, {
      find: async () => installationOwnership,
      act: async (tx) => {
        const data = { host: 'host', pools: ['default'] };
        tx.publish({ type: 'worker.lost', subjectId: subject.id, owners: { teamId: null }, data });
        return { id: subject.id, after: { host: 'host' } };
      },
    });
    calls += 1;
    if (calls <= failures) throw new Error('the process failed after the command was committed');
  };
}

describe('a subscriber that runs a system command when it receives an event', () => {
  it('changes the database once for each event, even if an event is delivered again after the command was committed', async () => {
    const subjects = newSubjects(4);
    for (const subject of subjects) await deps.transactions.run(async (tx) => publishCounted(tx, subject, 1));
    delivery = new EventDelivery({ ...deps, signals: eagerSignals }, { supervision: createSupervision(deps, 3) });
    delivery.start();
    await expect.poll(() => count('outbox')).toBe(0);
    expect(await count(`audit_records where action = 'worker.lost' and actor_type = 'system'`)).toBe(subjects.length);
    expect(await count(`domain_events where type = 'worker.lost'`)).toBe(subjects.length);
    expect(await count('command_receipts')).toBe(subjects.length);
  });
});

describe('the handlers of the worker', () => {
  it('exist for each subscriber', () => {
    const names = eventSubscriptions.map(({ subscriber }: { subscriber: string }) => subscriber);
    expect(Object.keys(createEventHandlers(deps)).sort()).toEqual(names.sort());
  });
});
