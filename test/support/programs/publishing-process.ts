import { appendFileSync } from 'node:fs';
import pino from 'pino';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { EventDelivery } from '#engine/event-delivery.ts';
import { openDatabase } from '#open-database';
import { eagerSignals } from '#test/support/signals.ts';
import { publishCounted, subscribe } from '../events.ts';

/**
 * A process that kills itself: `publish <database> <subject> <workflow>` between the commit of an event and any delivery,
 * `deliver <database> <file>` between the delivery of an event, which it notes in the file, and the removal from the outbox, `poisoned <database> <file>
 * <subject>` when it gets an event of the subject; it notes all others in the file.
 */
const [mode, databaseUrl = '', ...rest] = process.argv.slice(2);
const orm = openDatabase({ databaseUrl, databasePoolSize: 4 });
const killItself = () => process.kill(process.pid, 'SIGKILL');

if (mode === 'publish') {
  const [subject = '', workflow = ''] = rest;
  const transactions = new Transactions(orm, { dispatch: killItself }, [subscribe('webhooks')]);
  await transactions.run(async (tx) => {
    publishCounted(tx, subject, 1);
    tx.notifyEngine(workflow, { kind: 'start', workflow: 'run', input: { run_id: subject } });
  });
} else {
  const [file = '', poison] = rest;
  const handle = async ({ id, subject }: PublishedEvent) => {
    const isDeadly = poison === undefined || subject.id === poison;
    if (subject.id !== poison) appendFileSync(file, `${id}\n`);
    if (!isDeadly) return;
    killItself();
    await new Promise(() => undefined);
  };
  new EventDelivery({ orm, log: pino({ level: 'silent' }), signals: eagerSignals }, { webhooks: handle }).start();
}
