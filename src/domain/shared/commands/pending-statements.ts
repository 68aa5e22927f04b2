import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { type Compilable, runTogether } from '#database/queries.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { type EngineMessage, engineSubscriber, type OutboxEntry, type OutboxMessage } from '../events/outbox.ts';

/** The statements that a transaction sends without waiting for their results. */
export class PendingStatements {
  readonly #em: Em;
  readonly #kept: Compilable<unknown>[] = [];
  /** Every statement that was sent. The commit waits for them and fails if any of them fails. */
  readonly sent: Promise<unknown>[] = [];

  constructor(em: Em) {
    this.#em = em;
  }

  /** Lets the commit wait for a statement that was sent already. */
  send<Result>(statement: Promise<Result>): Promise<Result> {
    statement.catch(() => undefined); // The commit reports it.
    this.sent.push(statement);
    return statement;
  }

  /** Keeps a statement. All kept statements are sent as one, right before the commit. */
  write(statement: Compilable<unknown>): void {
    this.#kept.push(statement);
  }

  /**
   * Sends the kept statements together with the outbox rows. Resolves once the transaction has ended, to the messages that
   * this process may deliver to the engine: those whose target waits for no older message.
   */
  finish(entries: readonly OutboxEntry[], dueAt: Date): Promise<OutboxMessage[]> {
    const last = entries.length > 0 ? this.#insertOutbox(entries, dueAt) : this.#kept.pop();
    if (!last) return Promise.resolve([]);
    const rows = this.send(runTogether<InsertedRow>(this.#em, this.#kept, last));
    const messages = rows.then((inserted) => (entries.length > 0 ? inserted.flatMap(toMessage) : []));
    messages.catch(() => undefined);
    return messages;
  }

  /** The rows are numbered in the order in which they stand. A message to the engine is left to this process until `dueAt`. */
  #insertOutbox(entries: readonly OutboxEntry[], dueAt: Date): Compilable<InsertedRow> {
    const now = new Date();
    return db(this.#em)
      .insertInto('outbox')
      .values(
        entries.map(({ subscriber, target, payload }) => ({
          subscriber,
          target,
          payload: json(payload),
          created_at: now,
          due_at: subscriber === engineSubscriber ? dueAt : now,
        })),
      )
      .returning((eb) => [
        'outbox.id',
        'outbox.subscriber',
        'outbox.target',
        'outbox.payload',
        eb
          .exists(
            eb
              .selectFrom('outbox as older')
              .whereRef('older.subscriber', '=', 'outbox.subscriber')
              .whereRef('older.target', '=', 'outbox.target')
              .select(sql`1`.as('one')),
          )
          .as('waits'),
      ]);
  }
}

interface InsertedRow {
  id: string;
  subscriber: string;
  target: string;
  payload: unknown;
  /** Whether older messages to the same target were still to be delivered. */
  waits: boolean;
}

function toMessage({ id, subscriber, target, payload, waits }: InsertedRow): OutboxMessage[] {
  if (subscriber !== engineSubscriber || waits) return [];
  return [{ id, target, payload: payload as EngineMessage }];
}
