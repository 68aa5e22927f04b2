import { setTimeout as sleep } from 'node:timers/promises';
import type { Em, Orm } from '#database/database.ts';
import { isConnectionError, sqlState } from '#database/errors.ts';
import type { Compilable } from '#database/queries.ts';
import { Unavailable } from '../errors.ts';
import { type OutboxMessage, type OutboxPayload, ownDeliveryMs, type Told } from '../events/outbox.ts';
import { Changes } from './changes.ts';

/** One unit of work that commits as a whole, with what the engine is to be told once it has. */
export interface Transaction {
  readonly em: Em;
  /**
   * Lets the commit wait for a statement that nothing else in the transaction waits for; the commit fails if it fails. Its rows
   * may be awaited, but only once the transaction is over.
   */
  send<Result>(statement: Promise<Result>): Promise<Result>;
  /** Keeps a change that goes out together with the commit. No two such changes may touch the same row. */
  write(statement: Compilable<unknown>): void;
  /** Says in this transaction what a workflow must hear after the commit; one target hears in order. */
  tell(target: string, payload: OutboxPayload): void;
}

const retriedStates = new Set(['40P01', '40001']);
const maximumTries = 5;

/**
 * The one way to change the database: READ COMMITTED, tried again after a deadlock or a serialization failure.
 * What was told is handed to `deliver` after the commit; should this process die before it has delivered, a sweeper does.
 */
export class Transactions {
  readonly #orm: Orm;
  readonly #deliver: (messages: OutboxMessage[]) => void;
  readonly #foresee: () => number;

  /** `foresee`: the milliseconds that a message may have to wait before `deliver` gets to it. */
  constructor(orm: Orm, deliver: (messages: OutboxMessage[]) => void, foresee: () => number = () => 0) {
    this.#orm = orm;
    this.#deliver = deliver;
    this.#foresee = foresee;
  }

  /** @throws Unavailable with `outcome: 'unknown'` where the connection was lost while committing */
  async run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#try(work);
      } catch (error) {
        if (attempt >= maximumTries || !retriedStates.has(sqlState(error) ?? '')) throw error;
        await sleep(Math.random() * 20 * 2 ** attempt);
      }
    }
  }

  async #try<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const em = this.#orm.em.fork();
    const changes = new Changes(em);
    const told: Told[] = [];
    await em.begin();
    let result: T;
    try {
      result = await work({
        em,
        send: (statement) => changes.send(statement),
        write: (statement) => changes.write(statement),
        tell: (target, payload) => void told.push({ target, payload }),
      });
      await em.flush();
    } catch (error) {
      await em.rollback().catch(() => undefined); // the connection is gone, and its transaction with it
      throw error;
    }
    const messages = changes.finish(told, new Date(Date.now() + ownDeliveryMs + this.#foresee()));
    await commit(em, changes.sent);
    if (told.length > 0) this.#deliver(await messages);
    return result;
  }
}

/** Whatever was sent before is waited for together with the commit, which comes after all of it. */
async function commit(em: Em, sent: readonly Promise<unknown>[]): Promise<void> {
  try {
    await Promise.all([...sent, em.commit()]);
  } catch (error) {
    if (!isConnectionError(error)) throw error;
    throw new Unavailable(
      'the connection to the database was lost while committing: the outcome is unknown; read the outcome of its Idempotency-Key instead of sending it again',
      {
        details: { outcome: 'unknown' },
        cause: error,
      },
    );
  }
}
