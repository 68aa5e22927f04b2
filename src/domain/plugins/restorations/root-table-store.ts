import { type ForeignReader, quoteIdentifier } from '#database/foreign-tables.ts';
import type { Root } from '../model.ts';

/** What a root turns out to be in the database. */
export interface RootTable {
  /** The type of the column without its length, so that a cast cuts nothing off. */
  readonly type: string;
  /** The type comes with PostgreSQL. The functions of others would run when a key is compared. */
  readonly isBuiltIn: boolean;
  /** Reading the table runs no function of those who made it. */
  readonly isPlain: boolean;
}

/**
 * Whether the role may do anything but read what was granted to it. Functions of whoever made a table can run with its rights, however carefully the
 * table is looked at before.
 */
export async function isPowerful(reader: ForeignReader): Promise<boolean> {
  const [row] = await reader.rows<{ powerful: boolean }>(
    `select r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls
            or exists (select from pg_auth_members m where m.member = r.oid)
            or exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                        where n.nspname = 'public' and c.relkind in ('r', 'p') and has_table_privilege(c.oid, 'select, insert, update, delete'))
              as powerful
       from pg_roles r where r.rolname = session_user`,
  );
  return row?.powerful ?? true;
}

/**
 * A root, if it is a column of a table; a view could run functions. The table is locked against other definitions until the transaction ends.
 * @throws DatabaseError if there is no such table
 */
export async function inspectRoot(reader: ForeignReader, { schema, table, key }: Root): Promise<RootTable | undefined> {
  await reader.rows(`lock table ${quoteIdentifier(schema)}.${quoteIdentifier(table)} in access share mode`);
  const [found] = await reader.rows<RootTable>(
    `select format_type(a.atttypid, -1) as type,
            t.typtype = 'b' and t.typnamespace = 'pg_catalog'::regnamespace as "isBuiltIn",
            c.relkind = 'r' and not c.relispartition and not c.relhassubclass and not c.relrowsecurity and not c.relhasrules
              and a.attgenerated = ''
              and not exists (select from pg_index i
                               where i.indrelid = c.oid and (i.indexprs is not null or i.indpred is not null))
              and not exists (select from pg_statistic_ext s where s.stxrelid = c.oid and s.stxexprs is not null) as "isPlain"
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attname = $3
       join pg_type t on t.oid = a.atttypid
      where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p')`,
    [schema, table, key],
  );
  return found;
}

/** Whether the table has a row whose column holds the key. The type is that of `inspectRoot`. */
export async function hasRow(
  reader: ForeignReader,
  { schema, table, key: column }: Root,
  key: string,
  type: string,
): Promise<boolean> {
  const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
  const [row] = await reader.rows<{ found: boolean }>(
    `select exists (select from ${name} where ${quoteIdentifier(column)} = cast($1::text as ${type})) as found`,
    [key],
  );
  return row?.found ?? false;
}
