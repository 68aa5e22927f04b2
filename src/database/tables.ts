import type { EntitySchemaWithMeta } from '@mikro-orm/core';
import type { InferKyselyTable } from '@mikro-orm/sql';
import type { ColumnType } from 'kysely';

/** A value written as the text of its JSON. The type remembers what it holds, so that it fits only a column of that kind. */
export type JsonText<Value> = string & { readonly '~json'?: Value };

/** What a JSON column is given: PostgreSQL would take a JavaScript list for an array of its own. */
export function json<Value>(value: Value): JsonText<Value> {
  return JSON.stringify(value);
}

/** A time as PostgreSQL writes it: what every statement answers for a column of times. */
type Read<Value> = Value extends Date ? string : Value;

type Plain = string | number | boolean | bigint | Uint8Array | Date | null | undefined;

type Written<Value> =
  | Extract<Value, Plain>
  | (Extract<Value, Date> extends never ? never : string)
  | ([Exclude<Value, Plain>] extends [never] ? never : JsonText<Exclude<Value, Plain>>);

type Column<Value> = [Value] extends [ColumnType<infer Selected, infer Inserted, infer Updated>]
  ? ColumnType<Read<Selected>, Written<Inserted>, Written<Updated>>
  : ColumnType<Read<Value>, Written<Value>, Written<Value>>;

/** The columns of an entity's table, for Kysely: renaming a property of the entity breaks every statement that names it. */
export type TableOf<Schema extends EntitySchemaWithMeta> = {
  [Name in keyof InferKyselyTable<Schema>]: Column<InferKyselyTable<Schema>[Name]>;
};
