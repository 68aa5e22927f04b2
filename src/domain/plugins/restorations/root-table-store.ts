import { type ForeignReader, quoteIdentifier } from '#database/foreign-tables.ts';
import type { Root } from '../model.ts';

/** What a root names in the database. */
export interface RootTable {
  /** As `pg_class` has it: `r` for a table. Null: there is none of the name. */
  readonly kind: string | null;
  /** The role may use the schema. */
  readonly isSchemaOpen: boolean;
}

/** Looks for what a root names, without reading it; undefined if there is no such schema. */
export async function findRootTable(reader: ForeignReader, { schema, table }: Root): Promise<RootTable | undefined> {
  const [found] = await reader.rows<RootTable>(
    `select c.relkind::text as kind, has_schema_privilege(n.oid, 'usage') as "isSchemaOpen"
       from pg_namespace n left join pg_class c on c.relnamespace = n.oid and c.relname = $2 and c.relkind not in ('i', 'I', 't', 'c')
      where n.nspname = $1`,
    [schema, table],
  );
  return found;
}

/** The column of a root that holds keys. */
export interface RootColumn {
  /** Its type without a length, so that a cast cuts nothing off. */
  readonly type: string;
  /** The type comes with PostgreSQL. The functions of others would run when a key is compared. */
  readonly isBuiltIn: boolean;
  /** Why reading the table could run functions of those who made it, by what it has. */
  readonly dangers: Readonly<Record<keyof typeof dangers, boolean>>;
}

/** What a table may not have, as a refusal names it. PostgreSQL would run functions for it. */
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
 * The column of a root; undefined if the table has no such column. The table is locked against other definitions until the transaction ends, and nothing
 * of it is read.
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
 * Whether the table has a row whose column holds the key, spelled as PostgreSQL writes the value: two resources could hold the same row by two spellings of
 * its key otherwise. The type is that of `inspectRoot`.
 */
export async function hasRow(
  reader: ForeignReader,
  { schema, table, key: column }: Root,
  key: string,
  type: string,
): Promise<boolean> {
  const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
  const value = quoteIdentifier(column);
  // The first comparison can use an index. The second one keeps to bytes, whatever the collation of the column takes for equal.
  const [row] = await reader.rows<{ found: boolean }>(
    `select exists (select from ${name} where ${value} = cast($1::text as ${type}) and cast(${value} as text) collate "C" = $1::text) as found`,
    [key],
  );
  return row?.found ?? false;
}
