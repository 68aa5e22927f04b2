import type { EntitySchemaWithMeta } from '@mikro-orm/core';
import type { InferKyselyTable } from '@mikro-orm/sql';
import type { ColumnType, InferResult } from 'kysely';
import type { Compilable } from './queries.ts';

/** The JSON text of a value. The type remembers that of the value, so that it fits only a column of that type. */
export type JsonText<Value> = string & { readonly '~json'?: Value };

/** A value for a JSON column. Without this, a JavaScript list would become a PostgreSQL array. */
export function json<Value>(value: Value): JsonText<Value> {
  return JSON.stringify(value);
}

/** The type of a value in a row. Times are PostgreSQL's text. */
type Read<Value> = Value extends Date ? string : Value;

type Plain = string | number | boolean | bigint | Uint8Array | Date | null | undefined;

type Written<Value> =
  | Extract<Value, Plain>
  | (Extract<Value, Date> extends never ? never : string)
  | ([Exclude<Value, Plain>] extends [never] ? never : JsonText<Exclude<Value, Plain>>);

type Column<Value> = [Value] extends [ColumnType<infer Selected, infer Inserted, infer Updated>]
  ? ColumnType<Read<Selected>, Written<Inserted>, Written<Updated>>
  : ColumnType<Read<Value>, Written<Value>, Written<Value>>;

/**
 * The columns of an entity's table, for Kysely, by the names of its properties. If a property is renamed, statements with the old name do
 * not compile.
 */
export type TableOf<Schema extends EntitySchemaWithMeta> = {
  [Name in keyof ByProperty<Schema>]: Column<ByProperty<Schema>[Name]>;
};

type ByProperty<Schema extends EntitySchemaWithMeta> = InferKyselyTable<Schema, { columnNamingStrategy: 'property' }>;

/** The row type of a query, from the function that builds the query. Times are strings. */
export type RowOf<Select extends (...parameters: never[]) => Compilable<unknown>> =
  InferResult<ReturnType<Select>> extends readonly (infer Row)[] ? { readonly [Name in keyof Row]: Row[Name] } : never;
