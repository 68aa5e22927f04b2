import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { queriesOf } from '#database/queries.ts';
import type { Root } from '../model.ts';

/** What a root turns out to be in the database. */
export interface RootTable {
  /** The type of the column without its length, so that a cast cuts nothing off. */
  readonly type: string;
  /** The type comes with PostgreSQL. The functions of others would run when a key is compared. */
  readonly isBuiltIn: boolean;
  /** Reading the table runs no function of those who made it: it has no row security, no children but partitions, and no index on an expression. */
  readonly isPlain: boolean;
}

/**
 * A root, if it is a column of a table; a view could run functions. The table is locked against other definitions until the transaction ends, so that what was found
 * here holds when it is read.
 * @throws DriverException if there is no such table
 */
export async function inspectRoot(em: Em, { schema, table, key }: Root): Promise<RootTable | undefined> {
  await sql`lock table ${sql.id(schema, table)} in access share mode`.execute(queriesOf(em));
  const { rows } = await sql<RootTable>`
    with recursive found as (
      select c.oid, c.relkind, c.relhassubclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = ${schema} and c.relname = ${table} and c.relkind in ('r', 'p')
    ), parts as (
      select oid from found union select relid from found, pg_partition_tree(found.oid)
    )
    select format_type(a.atttypid, -1) as type,
           t.typtype = 'b' and t.typnamespace = 'pg_catalog'::regnamespace as "isBuiltIn",
           (found.relkind = 'p' or not found.relhassubclass) and not exists (
             select from parts join pg_class p on p.oid = parts.oid
              where p.relkind not in ('r', 'p') or p.relrowsecurity
                 or exists (select from pg_index i
                             where i.indrelid = p.oid and (i.indexprs is not null or i.indpred is not null))
           ) as "isPlain"
      from found
      join pg_attribute a on a.attrelid = found.oid and a.attnum > 0 and not a.attisdropped and a.attname = ${key}
      join pg_type t on t.oid = a.atttypid`.execute(queriesOf(em));
  return rows[0];
}
