import type { Em } from '#database/database.ts';
import { type Compilable, runTogether } from '#database/queries.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { OutboxMessage, Told } from '../events/outbox.ts';

/** What a transaction changes without waiting for the answer. */
export class Changes {
  readonly #em: Em;
  readonly #kept: Compilable<unknown>[] = [];
  /** Everything that was sent. The commit waits for it, and fails if any of it fails. */
  readonly sent: Promise<unknown>[] = [];

  constructor(em: Em) {
    this.#em = em;
  }

  /** Lets the commit wait for a statement that is under way. */
  send<Result>(statement: Promise<Result>): Promise<Result> {
    statement.catch(() => undefined); // The commit reports it.
    this.sent.push(statement);
    return statement;
  }

  /** Keeps a statement that goes out together with the others that were kept, right before the commit. */
  write(statement: Compilable<unknown>): void {
    this.#kept.push(statement);
  }

  /** Sends what was kept, with the outbox rows of what was told last. Resolves to those messages once the transaction is over. */
  finish(told: readonly Told[], dueAt: Date): Promise<OutboxMessage[]> {
    const last = told.length > 0 ? this.#insertOutbox(told, dueAt) : this.#kept.pop();
    if (!last) return Promise.resolve([]);
    const rows = this.send(runTogether<{ id: string }>(this.#em, this.#kept, last));
    const messages = rows.then((all) => told.map((message, index) => ({ ...message, id: all[index]?.id ?? '' })));
    messages.catch(() => undefined);
    return messages;
  }

  /** The rows are numbered in the order in which they stand. */
  #insertOutbox(told: readonly Told[], dueAt: Date): Compilable<unknown> {
    const created = new Date();
    return db(this.#em)
      .insertInto('outbox')
      .values(
        told.map(({ target, payload }) => ({ target, payload: json(payload), created_at: created, due_at: dueAt })),
      )
      .returning('id');
  }
}
