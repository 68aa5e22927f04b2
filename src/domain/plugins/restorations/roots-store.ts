import { sql } from 'kysely';
import type { Em, Orm } from '#database/database.ts';
import { sqlState } from '#database/errors.ts';
import { queriesOf } from '#database/queries.ts';
import type { Root } from '../model.ts';
import { inspectRoot, type RootTable } from './root-table-store.ts';

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
    await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true), set_config('search_path', 'pg_catalog', true)`.execute(
      queriesOf(em),
    );
    const table = await inspectRoot(em, root);
    if (!table) return { kind: 'missing', root };
    const why = findDanger(table);
    if (why !== null) return { kind: 'unverified', root, why };
    return (await hasRow(em, root, key, table.type)) ? { kind: 'intact' } : { kind: 'missing', root };
  } catch (error) {
    const state = sqlState(error) ?? '';
    return isMissing(state) ? { kind: 'missing', root } : { kind: 'unverified', root, why: describeFailure(state) };
  } finally {
    await em.rollback().catch(() => undefined); // Without the connection, the transaction is gone too.
  }
}

/** Why the table must not be read: functions of those who made it would run with the rights of the service. */
function findDanger({ isBuiltIn, isPlain }: RootTable): string | null {
  if (!isBuiltIn) return 'the type of the column does not come with PostgreSQL';
  if (!isPlain) return 'the table has row security, inherits, or has an index with an expression or a condition';
  return null;
}

/** There is no such schema or table, or the key is no value of the column's type, so that no row has it. */
function isMissing(state: string): boolean {
  return ['3F000', '42P01'].includes(state) || state.startsWith('22');
}

function describeFailure(state: string): string {
  if (state === '57014') return `it took longer than ${timeoutMs / 1000} s`;
  if (state === '42501') return 'the service may not read the table';
  return state === '42809' ? 'it is not a table' : 'the database did not answer';
}

async function hasRow(em: Em, { schema, table, key: column }: Root, key: string, type: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from ${sql.id(schema, table)} where ${sql.id(column)} = cast(${key} as ${sql.raw(type)})) as found`.execute(
    queriesOf(em),
  );
  return rows[0]?.found ?? false;
}
