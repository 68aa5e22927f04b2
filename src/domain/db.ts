import type { ExpressionBuilder, Kysely, SelectQueryBuilder } from 'kysely';
import type { Em } from '#database/database.ts';
import {
  type Compilable,
  type ParameterOf,
  type PreparedQuery,
  type PreparedStatement,
  prepareQuery,
  prepareStart,
  prepareStatement,
  queriesOf,
} from '#database/queries.ts';
import type { Tables } from './entities.ts';

/** Queries over the tables of all areas, in the open transaction of the entity manager, if any. */
export function db(em: Em): Kysely<Tables> {
  return queriesOf<Tables>(em);
}

/** Tables by the names in declarations, where the compiler has already checked the names of tables and columns. */
// biome-ignore lint/suspicious/noExplicitAny: a column of any table has any type
export type DeclaredTables = Record<string, Record<string, any>>;

/** Queries over the tables that declarations name. */
export function declaredTables(em: Em): Kysely<DeclaredTables> {
  return db(em) as unknown as Kysely<DeclaredTables>;
}

/** `db` for a query that is built once, at its first use (see `prepareQuery`). */
export function prepare<Parameters extends object, Row>(
  build: (db: Kysely<Tables>, parameter: ParameterOf<Parameters>) => Compilable<Row>,
): PreparedQuery<Parameters, Row> {
  return prepareQuery<Tables, Parameters, Row>(build);
}

/** A lookup by id. `query` is its statement, for those who send it together with another one. */
export interface LookupById<Row> {
  (em: Em, id: string): Promise<Row | undefined>;
  readonly query: PreparedQuery<{ id: string }, Row>;
}

/** A lookup by id whose query is built once, at its first use. */
export function prepareLookupById<Row>(build: (db: Kysely<Tables>, id: string) => Compilable<Row>): LookupById<Row> {
  const query = prepare((db, parameter: ParameterOf<{ id: string }>) => build(db, parameter('id')));
  return Object.assign(async (em: Em, id: string) => (await query(em, { id }))[0], { query });
}

/** `db` for a change that is built once, at its first use, and goes out with others (see `prepareStatement`). */
export function prepareChange<Parameters extends object, Row>(
  build: (db: Kysely<Tables>, parameter: ParameterOf<Parameters>) => Compilable<Row>,
): PreparedStatement<Parameters, Row> {
  return prepareStatement<Tables, Parameters, Row>(build);
}

/** `db` for the constant part of a query, which is built once, at its first use (see `prepareStart`). */
export function prepareSelect<From, Alias extends keyof From, Row>(
  build: (db: Kysely<Tables>) => SelectQueryBuilder<From, Alias, Row>,
): (em: Em) => SelectQueryBuilder<From, Alias, Row> {
  return prepareStart(build);
}

/** What an expression over aliased tables is built with: `Over<{ r: 'runs' }>` sees the table `runs` as `r`. */
export type Over<Aliases extends Record<string, keyof Tables>> = ExpressionBuilder<
  Tables & { [Alias in keyof Aliases]: Tables[Aliases[Alias]] },
  keyof Aliases & string
>;
