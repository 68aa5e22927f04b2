import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Pool } from 'pg';
import type { Orm } from '#database/database.ts';
import { countLockWaits } from './lock-waits.ts';

type Query = (this: Client, ...given: unknown[]) => unknown;
type Driver = { query: Query };

/**
 * Holds one statement of one service in this process before it is sent, so that a test decides what happens meanwhile. Later statements of the same
 * connection wait behind it. Services with pools of their own are told apart.
 */
export class HeldStatement {
  readonly #driver: Driver;
  readonly #original: Query;
  readonly #reached = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  readonly #stopFollowing: () => void;
  #held: Client | null = null;

  /** Holds the first statement that a service sends from now on and whose first word is as given. */
  static async at(orm: Orm, word: 'begin' | 'commit'): Promise<HeldStatement> {
    const connection = orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> };
    return new HeldStatement(await connection.getNativeClient(), word);
  }

  private constructor(pool: Pool, word: string) {
    const clients = new WeakSet<Client>();
    const follow = (client: unknown) => clients.add(client as Client);
    pool.on('acquire', follow);
    this.#stopFollowing = () => pool.off('acquire', follow);
    this.#driver = (pool as unknown as { Client: { prototype: Driver } }).Client.prototype;
    this.#original = this.#driver.query;
    const pass = (client: Client, given: unknown[]) =>
      this.#pass(client, given, clients.has(client) && firstWord(given[0]) === word);
    this.#driver.query = function (...given) {
      return pass(this, given);
    };
  }

  /** Resolves once the service is about to send the statement. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  /** Sends the statement, and holds nothing any more. It may be called twice. */
  release(): void {
    this.#stopFollowing();
    this.#driver.query = this.#original;
    this.#released.resolve();
  }

  #pass(client: Client, given: unknown[], isWanted: boolean): unknown {
    if (this.#held === null && isWanted) {
      this.#held = client;
      this.#reached.resolve();
    }
    if (this.#held !== client) return this.#original.apply(client, given);
    return this.#released.promise.then(() => this.#original.apply(client, given));
  }
}

function firstWord(statement: unknown): string | undefined {
  const text = typeof statement === 'string' ? statement : (statement as { text: string }).text;
  return /\w+/.exec(text)?.[0].toLowerCase();
}

/** Waits until work has ended, or waits for a lock of the database. */
export async function untilBlocked(orm: Orm, work: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  work.then(end, end);
  while (!hasEnded && (await countLockWaits(orm)) === 0) await sleep(5);
}
