import {
  type AnyEntity,
  type Dictionary,
  type EntityData,
  isRaw,
  NativeQueryBuilder,
  PostgreSqlConnection,
  PostgreSqlDriver,
  type QueryResult,
  type RawQueryFragment,
} from '@mikro-orm/postgresql';
import type { QueryResult as DriverResult, Pool, PoolClient } from 'pg';
import { bindStatement, nameStatement, type Statement } from './statements.ts';

/** What MikroORM passes around for an open transaction. It looks into it nowhere but in the methods below. */
type Ticket = Awaited<ReturnType<PostgreSqlConnection['begin']>>;
type BeginOptions = NonNullable<Parameters<PostgreSqlConnection['begin']>[0]>;
type Rows = EntityData<AnyEntity>[];

const begunSetting = 'coordinator.begun';

/** A condition for a change that must not wait for its transaction to begin: without it, nothing is changed. */
export const onlyOnceBegun = `current_setting('${begunSetting}', true) = 'yes'`;

class OpenTransaction {
  readonly client: PoolClient;
  /** Settles when it has begun; what does no harm without it is sent meanwhile, and comes after. */
  readonly began: Promise<unknown>;
  hasBegun = false;
  /** Something waits for that, and so does whatever comes after it. */
  isHeldBack = false;
  /** How deep it lies in others; 0 for the transaction itself, else it is a savepoint. */
  readonly depth: number;
  /** Its connection is somebody else's by now. */
  isOver = false;

  constructor(client: PoolClient, depth: number, begin: string) {
    this.client = client;
    this.depth = depth;
    this.began = query(client, begin);
    this.began.then(
      () => {
        this.hasBegun = true;
      },
      () => undefined, // Its first statement says the same.
    );
  }
}

/**
 * MikroORM's connection, but for how statements reach PostgreSQL: values are bound instead of written into the text, texts
 * stay prepared, and statements of one transaction that do not wait for each other go out together (`pipeline` of the
 * pool). A transaction begins together with its first statement.
 */
export class BindingConnection extends PostgreSqlConnection {
  /** What MikroORM closes is Kysely's view of the pool, which nothing here has used. */
  override async close(force?: boolean): Promise<void> {
    const pool = this.connected ? await this.getNativeClient() : undefined;
    await super.close(force);
    if (pool && !pool.ending) await pool.end();
  }

  override async begin({ ctx, isolationLevel, readOnly }: BeginOptions = {}): Promise<Ticket> {
    const outer: unknown = ctx;
    if (outer instanceof OpenTransaction) {
      const depth = outer.depth + 1;
      return toTicket(new OpenTransaction(outer.client, depth, `savepoint nested_${depth}`));
    }
    const pool = await this.getNativeClient();
    const mode = [isolationLevel && `isolation level ${isolationLevel}`, readOnly && 'read only'].filter(Boolean);
    const begin = `begin ${mode.join(' ')}; set local ${begunSetting} = 'yes'`;
    return toTicket(new OpenTransaction(await pool.connect(), 0, begin));
  }

  override async commit(ticket: Ticket): Promise<void> {
    const open = fromTicket(ticket);
    if (open.depth > 0) return void (await query(open.client, `release savepoint nested_${open.depth}`));
    // What waits for the beginning goes out first; where there was none, that is what says so.
    if (open.isHeldBack && !open.hasBegun) await open.began.catch(() => undefined);
    const { command } = await endTransaction(open, 'commit');
    if (command !== 'COMMIT') throw new Error('a transaction in which a statement had failed could not be committed');
  }

  override async rollback(ticket: Ticket): Promise<void> {
    const open = fromTicket(ticket);
    if (open.depth > 0) return void (await query(open.client, `rollback to savepoint nested_${open.depth}`));
    if (!open.isOver) await endTransaction(open, 'rollback');
  }

  override async execute<T extends QueryResult | EntityData<AnyEntity> | Rows = Rows>(
    query: string | NativeQueryBuilder | RawQueryFragment,
    params: readonly unknown[] | Dictionary = [],
    method: 'all' | 'get' | 'run' = 'all',
    ctx?: unknown,
  ): Promise<T> {
    if (!Array.isArray(params)) throw new Error('parameters have no names here: give a list');
    const raw = query instanceof NativeQueryBuilder ? query.toRaw() : query;
    const [text, values] = isRaw(raw) ? [raw.sql, raw.params] : [raw, params];
    const statement = bindStatement(text, values) ?? { text: this.platform.formatQuery(text, values), values: [] };
    const result = await send(ctx, await this.getNativeClient(), statement);
    return this.transformRawResult(toRawResult(result), method);
  }

  /** Runs one statement whose placeholders are PostgreSQL's own ($1, $2, …). */
  async run(text: string, parameters: readonly unknown[], ctx?: unknown): Promise<DriverResult> {
    const result = await send(ctx, await this.getNativeClient(), nameStatement(text, parameters));
    if (Array.isArray(result)) throw new Error('a query holds several statements');
    return result;
  }
}

/** PostgreSQL as `BindingConnection` speaks to it. */
export class BindingDriver extends PostgreSqlDriver {
  protected override readonly connection = new BindingConnection(this.config);
}

async function send(ctx: unknown, pool: Pool, statement: Statement): Promise<DriverResult | DriverResult[]> {
  if (!(ctx instanceof OpenTransaction)) return pool.query(statement);
  refuseAfterEnd(ctx);
  if (mustWait(ctx, statement)) {
    await ctx.began;
    refuseAfterEnd(ctx);
  }
  const [result] = await Promise.all([query(ctx.client, statement), ctx.began]);
  return result;
}

function refuseAfterEnd(open: OpenTransaction): void {
  if (open.isOver) throw new Error('a statement came after the end of its transaction');
}

/**
 * A transaction may fail to begin on a connection that goes on: a change that had been sent behind would then be made by
 * itself, for good. So changes wait for it, and what comes after them; reads and locks do not, nor a change that sees to
 * it itself.
 */
function mustWait(open: OpenTransaction, { text }: Statement): boolean {
  if (open.hasBegun || open.depth > 0) return false;
  const isHarmless = /^\s*select\b/i.test(text) || text.includes(onlyOnceBegun);
  open.isHeldBack ||= !isHarmless;
  return open.isHeldBack;
}

/** Statements of the same moment leave in one packet. */
function query(client: PoolClient, statement: Statement | string): Promise<DriverResult> {
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
  return client.query(statement);
}

/** Whatever became of it, the connection goes back to the pool, or away where it broke. */
async function endTransaction(open: OpenTransaction, statement: 'commit' | 'rollback'): Promise<DriverResult> {
  const { client } = open;
  open.isOver = true;
  try {
    const result = await query(client, statement);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Several statements in one text answer nothing. */
function toRawResult(result: DriverResult | DriverResult[]) {
  if (Array.isArray(result)) return { rows: [] };
  const isChange = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(result.command);
  return { rows: result.rows, ...(isChange && { numAffectedRows: result.rowCount ?? 0 }) };
}

function toTicket(transaction: OpenTransaction): Ticket {
  // MikroORM's types want a transaction of Kysely, whose place this takes.
  return transaction as unknown as Ticket;
}

function fromTicket(ticket: unknown): OpenTransaction {
  if (ticket instanceof OpenTransaction) return ticket;
  throw new Error('a transaction was begun by another connection');
}
