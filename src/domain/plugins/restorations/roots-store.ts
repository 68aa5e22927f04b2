import { sql } from 'kysely';
import type { Em, Orm } from '#database/database.ts';
import { sqlState } from '#database/errors.ts';
import { queriesOf } from '#database/queries.ts';
import type { Root } from '../model.ts';

/** What came of looking for the rows of a resource. */
export type RootsFound =
  | { readonly kind: 'intact' }
  | { readonly kind: 'missing'; readonly root: Root }
  | { readonly kind: 'unverified'; readonly root: Root; readonly why: string };

/** How long looking for one row may take. */
const timeoutMs = 2_000;

/**
 * Whether each root of a resource has a row with its key. It reads in a transaction that cannot write, by quoted names, only in schemas that an
 * operator allows, and nothing but keys.
 */
export async function verifyRoots(
  orm: Orm,
  { roots, key }: { readonly roots: readonly Root[]; readonly key: string },
  allowedSchemas: readonly string[],
): Promise<RootsFound> {
  for (const root of roots) {
    if (!allowedSchemas.includes(root.schema))
      return { kind: 'unverified', root, why: 'COORDINATOR_PLUGIN_SCHEMAS does not name the schema' };
    const found = await verifyRoot(orm, root, key);
    if (found.kind !== 'intact') return found;
  }
  return { kind: 'intact' };
}

async function verifyRoot(orm: Orm, root: Root, key: string): Promise<RootsFound> {
  const em = orm.em.fork();
  try {
    await em.begin({ readOnly: true });
    await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(queriesOf(em));
    const type = await findKeyType(em, root);
    if (type === undefined) return { kind: 'missing', root };
    return (await hasRow(em, root, key, type)) ? { kind: 'intact' } : { kind: 'missing', root };
  } catch (error) {
    const state = sqlState(error) ?? '';
    // The key is no value of the column's type, so no row has it.
    if (/^22/.test(state)) return { kind: 'missing', root };
    const why = state === '57014' ? `it took longer than ${timeoutMs / 1000} s` : 'the database did not answer';
    return { kind: 'unverified', root, why: state === '42501' ? 'the service may not read the table' : why };
  } finally {
    await em.rollback().catch(() => undefined); // Without the connection, the transaction is gone too.
  }
}

/** The type of the column, if it is one of a table: a view could run functions. */
async function findKeyType(em: Em, { schema, table, key }: Root): Promise<string | undefined> {
  const { rows } = await sql<{ type: string }>`
    select format_type(a.atttypid, a.atttypmod) as type
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = ${schema} and c.relname = ${table} and a.attname = ${key} and c.relkind in ('r', 'p')`.execute(
    queriesOf(em),
  );
  return rows[0]?.type;
}

async function hasRow(em: Em, { schema, table, key: column }: Root, key: string, type: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from ${sql.id(schema, table)} where ${sql.id(column)} = cast(${key} as ${sql.raw(type)})) as found`.execute(
    queriesOf(em),
  );
  return rows[0]?.found ?? false;
}
