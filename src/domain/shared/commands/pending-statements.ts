import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { type Compilable, type ParameterOf, type PreparedStatement, runTogether } from '#database/queries.ts';
import { type JsonText, json } from '#database/tables.ts';
import { prepareChange } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { EventSubscription } from '../events/event-type.ts';
import { type EngineMessage, engineSubscriber, type OutboxEntry, type OutboxMessage } from '../events/outbox.ts';

/** The statements that a transaction sends without waiting for their results. */
export class PendingStatements {
  readonly #em: Em;
  readonly #kept: Compilable<unknown>[] = [];
  readonly #insertRows: InsertRows;
  /** Every statement that was sent. The commit waits for them and fails if any of them fails. */
  readonly sent: Promise<unknown>[] = [];

  constructor(em: Em, insertRows: InsertRows) {
    this.#em = em;
    this.#insertRows = insertRows;
  }

  /** Makes the commit wait for a statement that was already sent. */
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
   * Sends the kept statements together with the outbox rows. Resolves once the transaction has ended, to the rows that were added.
   */
  finish(entries: readonly OutboxEntry[], dueAt: Date): Promise<AddedRows> {
    const last = entries.length > 0 ? insertOutbox(this.#insertRows, entries, dueAt) : this.#kept.pop();
    if (!last) return Promise.resolve({ messages: [], subscribers: [] });
    const rows = this.send(runTogether<InsertedRow>(this.#em, this.#kept, last));
    const added = rows.then((inserted) => toAddedRows(entries.length > 0 ? inserted : []));
    added.catch(() => undefined);
    return added;
  }
}

/** What a transaction has added to the outbox. */
export interface AddedRows {
  /** The messages that this process may deliver to the engine: those whose target waits for no older message. */
  readonly messages: OutboxMessage[];
  /** The subscribers of events for which there are rows. */
  readonly subscribers: readonly string[];
}

function toAddedRows(inserted: readonly InsertedRow[]): AddedRows {
  const subscribers = new Set(inserted.map(({ subscriber }) => subscriber));
  subscribers.delete(engineSubscriber);
  return { messages: inserted.flatMap(toMessage), subscribers: [...subscribers] };
}

/** A row of the outbox, as `insertOutbox` takes it. */
interface NewRow extends OutboxEntry {
  readonly ordinal: number;
  readonly dueAt: Date;
}

export type InsertRows = PreparedStatement<{ rows: JsonText<NewRow[]> }, InsertedRow>;

/**
 * The statement that adds rows to the outbox, except those for events that do not concern their subscribers. One parameter holds all rows,
 * so that the statement stays the same. The rows are numbered in their order.
 */
export function prepareInsertRows(subscriptions: readonly EventSubscription[]): InsertRows {
  return prepareChange((db, parameter: ParameterOf<{ rows: JsonText<NewRow[]> }>) =>
    db
      .insertInto('outbox')
      .columns(['subscriber', 'target', 'payload', 'createdAt', 'dueAt'])
      .expression(selectRows(db, parameter('rows'), subscriptions))
      .returning((eb) => [
        'outbox.id',
        'outbox.subscriber',
        'outbox.target',
        'outbox.payload',
        sql<boolean>`${oldestOfTarget(eb)} is not null`.as('waits'),
      ]),
  );
}

/**
 * The oldest earlier message to the same target. The `order by` makes PostgreSQL use the index: it plans this query while the outbox is
 * nearly empty, and would otherwise read the whole table during a burst.
 */
function oldestOfTarget(eb: ExpressionBuilder<Tables, 'outbox'>) {
  return eb
    .selectFrom('outbox as older')
    .whereRef('older.subscriber', '=', 'outbox.subscriber')
    .whereRef('older.target', '=', 'outbox.target')
    .orderBy('older.subscriber')
    .orderBy('older.target')
    .orderBy('older.id')
    .limit(1)
    .select('older.id');
}

function selectRows(db: Kysely<Tables>, rows: JsonText<NewRow[]>, subscriptions: readonly EventSubscription[]) {
  const alias = sql.raw<'e'>(
    'e(ordinal int, subscriber text, target text, payload jsonb, "dueAt" timestamptz, type text, "subjectId" uuid)',
  );
  return db
    .selectFrom(sql<NewRow>`jsonb_to_recordset(${rows}::jsonb)`.as<'e'>(alias))
    .select(['e.subscriber', 'e.target'])
    .select((eb) => [
      sql<string>`${eb.ref('e.payload')}`.as('payload'),
      sql<string>`clock_timestamp()`.as('createdAt'),
      sql<string>`e."dueAt"`.as('dueAt'),
    ])
    .where((eb) => eb.and(subscriptions.flatMap((subscription) => conditionsOf(eb, subscription))))
    .orderBy('e.ordinal');
}

/** That a row for a subscriber is about an event that concerns it. */
function conditionsOf(
  eb: ExpressionBuilder<Tables & { e: NewRow }, 'e'>,
  { subscriber, concerns = {} }: EventSubscription,
) {
  return Object.entries(concerns).map(([type, concernsIt]) => {
    const isOther = eb.or([
      eb('e.subscriber', '<>', sql.lit(subscriber)),
      eb('e.type', 'is distinct from', sql.lit(type)),
    ]);
    return eb.or([isOther, concernsIt(sql<string>`e."subjectId"`)]);
  });
}

/** Sweepers leave a message to the engine to this process until `dueAt`. */
function insertOutbox(insertRows: InsertRows, entries: readonly OutboxEntry[], dueAt: Date): Compilable<InsertedRow> {
  const now = new Date();
  const dueOf = ({ subscriber }: OutboxEntry) => (subscriber === engineSubscriber ? dueAt : now);
  return insertRows({
    rows: json(entries.map((entry, ordinal): NewRow => ({ ...entry, ordinal, dueAt: dueOf(entry) }))),
  });
}

interface InsertedRow {
  id: string;
  subscriber: string;
  target: string;
  payload: unknown;
  /** Whether older messages to the same target still wait for delivery. */
  waits: boolean;
}

function toMessage({ id, subscriber, target, payload, waits }: InsertedRow): OutboxMessage[] {
  if (subscriber !== engineSubscriber || waits) return [];
  return [{ id, target, payload: payload as EngineMessage }];
}
