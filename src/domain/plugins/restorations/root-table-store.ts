import { type ForeignReader, quoteIdentifier } from '#database/foreign-tables.ts';
import type { Root } from '../model.ts';

/** The table that a root names in the database. */
export interface RootTable {
  /** The kind in `pg_class`: `r` for a table. Null: there is nothing with the name. */
  readonly kind: string | null;
  /** Whether the role may use the schema. */
  readonly isSchemaOpen: boolean;
}

/** Finds the table that a root names, without reading it; undefined if there is no such schema. */
export async function findRootTable(reader: ForeignReader, { schema, table }: Root): Promise<RootTable | undefined> {
  const [found] = await reader.rows<RootTable>(
    `select c.relkind::text as kind, has_schema_privilege(n.oid, 'usage') as "isSchemaOpen"
       from pg_namespace n left join pg_class c on c.relnamespace = n.oid and c.relname = $2 and c.relkind not in ('i', 'I', 't', 'c')
      where n.nspname = $1`,
    [schema, table],
  );
  return found;
}

/** The column of a root that contains keys. */
export interface RootColumn {
  /** Its type without a length, so that a cast does not truncate. */
  readonly type: string;
  /** Whether the type is one of PostgreSQL itself. Comparing keys of another type would run functions of its author. */
  readonly isBuiltIn: boolean;
  /** The features of the table by which reading it could run functions of its author. */
  readonly dangers: Readonly<Record<keyof typeof dangers, boolean>>;
}

/** The features that a table must not have, as a refusal names them: PostgreSQL would run functions for them. */
export const dangers = {
  rowSecurity: 'row security',
  rules: 'rules',
  partitions: 'partitions, or is one',
  children: 'children by inheritance',
  generatedKey: 'a generated key',
  index: 'an index with an expression or a condition',
  statistics: 'statistics with an expression',
} as const;

/**
 * The column of a root; undefined if the table has no such column. The definition of the table is locked until the transaction ends, and no
 * row is read.
 */
export async function inspectRoot(
  reader: ForeignReader,
  { schema, table, key }: Root,
): Promise<RootColumn | undefined> {
  await reader.rows(`lock table ${quoteIdentifier(schema)}.${quoteIdentifier(table)} in access share mode`);
  const [found] = await reader.rows<RootColumn>(
    `select format_type(a.atttypid, -1) as type,
            t.typtype = 'b' and t.typnamespace = 'pg_catalog'::regnamespace as "isBuiltIn",
            json_build_object(
              'rowSecurity', c.relrowsecurity,
              'rules', c.relhasrules,
              'partitions', c.relkind = 'p' or c.relispartition,
              'children', c.relhassubclass,
              'generatedKey', a.attgenerated <> '',
              'index', exists (select from pg_index i where i.indrelid = c.oid and (i.indexprs is not null or i.indpred is not null)),
              'statistics', exists (select from pg_statistic_ext s where s.stxrelid = c.oid and s.stxexprs is not null)) as dangers
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attname = $3
       join pg_type t on t.oid = a.atttypid
      where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p')`,
    [schema, table, key],
  );
  return found;
}

/**
 * Whether the table has a row whose column holds the key, in the spelling of PostgreSQL: otherwise two resources could claim the same row
 * by two spellings of its key. The type is the one that `inspectRoot` returned.
 */
export async function hasRow(
  reader: ForeignReader,
  { schema, table, key: column }: Root,
  key: string,
  type: string,
): Promise<boolean> {
  const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
  const value = quoteIdentifier(column);
  // The first comparison can use an index. The second one compares bytes, because the collation of the column may treat different texts as
  // equal.
  const [row] = await reader.rows<{ found: boolean }>(
    `select exists (select from ${name} where ${value} = cast($1::text as ${type}) and cast(${value} as text) collate "C" = $1::text) as found`,
    [key],
  );
  return row?.found ?? false;
}
