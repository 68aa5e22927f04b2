import type { Socket } from 'node:net';
import type { Client, Pool } from 'pg';
import type { Orm } from '#database/database.ts';

/**
 * The faults that may hit a statement: PostgreSQL refuses it or chooses its transaction as the victim of a deadlock; the connection
 * breaks before the statement is sent, or after, so that it is executed without an answer; or the server never answers.
 */
export const faultKinds = ['refused', 'deadlock', 'cut before', 'cut after', 'silent'] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** The index of the statement among those that are sent from now on; 0 is the first. */
  readonly at: number;
}

/** What happened while a fault was set. */
export interface Sent {
  readonly statements: readonly string[];
  /** Whether the fault occurred; false where fewer statements were sent. */
  readonly hasStruck: boolean;
  /** Whether a commit had been attempted. */
  readonly hasCommitted: boolean;
}

/** How long the service waits for a silent server in this test. A minute, as in production, would behave alike. */
const silenceMs = 150;

type Query = (this: Client, ...given: unknown[]) => unknown;
type Driver = { query: Query };

/** Intercepts the statements of the service in this process, and no others. There may be only one at a time. */
export class StatementFaults {
  readonly #driver: Driver;
  readonly #original: Query;
  readonly #pool: Pool;
  /** The connections of the service, which are those of its pool. */
  readonly #own = new WeakSet<object>();
  readonly #know = (client: object) => void this.#own.add(client);
  #fault: Fault | null = null;
  #statements: string[] | null = null;
  #hasStruck = false;

  private constructor(pool: Pool, driver: Driver) {
    const strike = (client: Client, given: unknown[]) => this.#query(client, given);
    this.#pool = pool.on('acquire', this.#know);
    this.#driver = driver;
    this.#original = driver.query;
    driver.query = function (...given) {
      return strike(this, given);
    };
  }

  /** Intercepts the copy of the driver that MikroORM uses. */
  static async open(orm: Orm): Promise<StatementFaults> {
    const pool = (await (orm.em.getConnection() as unknown as Connection).getNativeClient()) as Pool & {
      Client: { prototype: Driver };
    };
    return new StatementFaults(pool, pool.Client.prototype);
  }

  /** Runs `work` with a fault at one of its statements; null: without a fault. */
  async during<T>(fault: Fault | null, work: () => Promise<T>): Promise<Sent & { result: T }> {
    const statements: string[] = [];
    this.#fault = fault;
    this.#statements = statements;
    this.#hasStruck = false;
    try {
      const result = await work();
      return { result, statements, hasStruck: this.#hasStruck, hasCommitted: statements.includes('commit') };
    } finally {
      this.#statements = null;
    }
  }

  remove(): void {
    this.#driver.query = this.#original;
    this.#pool.off('acquire', this.#know);
  }

  #query(client: Client, given: unknown[]): unknown {
    if (this.#statements === null || !this.#own.has(client)) return this.#original.apply(client, given);
    const at = this.#statements.push(textOf(given[0])) - 1;
    if (this.#fault?.at !== at) return this.#original.apply(client, given);
    this.#hasStruck = true;
    return this.#strike(this.#fault.kind, client, given);
  }

  #strike(kind: FaultKind, client: Client, given: unknown[]): unknown {
    const callback = given.find((each) => typeof each === 'function') as Callback | undefined;
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    switch (kind) {
      case 'refused':
        return this.#original.call(client, raise('53100'), undefined, callback);
      case 'deadlock':
        return this.#original.call(client, raise('40P01'), undefined, callback);
      case 'cut before':
        stream.destroy();
        return this.#original.apply(client, given);
      case 'silent':
        stream.setTimeout(silenceMs);
        stream.pause();
        return this.#original.apply(client, given);
      case 'cut after': {
        const lost = this.#sendAndLose(client, given[0], stream);
        if (!callback) return lost;
        lost.catch((error: Error) => callback(error, undefined));
      }
    }
  }

  async #sendAndLose(client: Client, statement: unknown, stream: Socket): Promise<never> {
    await this.#original.call(client, statement);
    stream.destroy();
    throw new Error('Connection terminated unexpectedly');
  }
}

type Callback = (error: Error | null, result: unknown) => void;

interface Connection {
  getNativeClient(): Promise<Pool>;
}

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement.trim() : (statement as { text: string }).text;
}

function raise(state: string): string {
  return `do $$ begin raise exception 'a fault of the test' using errcode = '${state}'; end $$`;
}
