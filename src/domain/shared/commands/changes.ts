import type { Em } from '#database/database.ts';
import type { OutboxMessage, Told } from '../events/outbox.ts';

interface Change {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** What a transaction changes without waiting for it: sent at once, or kept to go out as one statement with the commit. */
export class Changes {
  readonly #em: Em;
  readonly #kept: Change[] = [];
  /** All that was sent; the commit waits for it, and fails where any of it does. */
  readonly sent: Promise<unknown>[] = [];

  constructor(em: Em) {
    this.#em = em;
  }

  send<Row>(sql: string, params: readonly unknown[]): Promise<Row[]> {
    const rows = this.#em.execute<Row[]>(sql, [...params]);
    rows.catch(() => undefined); // The commit says so.
    this.sent.push(rows);
    return rows;
  }

  write(sql: string, params: readonly unknown[]): void {
    this.#kept.push({ sql, params });
  }

  /** Sends what was kept, and last the outbox's rows of what was told; answers these once the transaction is over. */
  finish(told: readonly Told[], dueAt: Date): Promise<OutboxMessage[]> {
    const last = told.length > 0 ? toOutbox(told, dueAt) : this.#kept.pop();
    if (!last) return Promise.resolve([]);
    const others = this.#kept.map(({ sql }, index) => `change_${index} as (${sql})`).join(', ');
    const sql = others === '' ? last.sql : `with ${others} ${last.sql}`;
    const rows = this.send<{ id: string }>(sql, [...this.#kept.flatMap(({ params }) => params), ...last.params]);
    const messages = rows.then((all) => told.map((message, index) => ({ ...message, id: all[index]?.id ?? '' })));
    messages.catch(() => undefined);
    return messages;
  }
}

/** The rows are numbered in the order in which they stand. */
function toOutbox(told: readonly Told[], dueAt: Date): Change {
  return {
    sql: `insert into outbox (target, payload, created_at, due_at) values ${told.map(() => '(?, ?, now(), ?)').join(', ')} returning id`,
    params: told.flatMap(({ target, payload }) => [target, payload, dueAt]),
  };
}
