import { sqlState } from '#database/errors.ts';
import { type ForeignReader, readForeignTables } from '#database/foreign-tables.ts';
import type { Root } from '../model.ts';
import { hasRow, inspectRoot, isPowerful, type RootTable } from './root-table-store.ts';

/** What came of looking for the rows of a resource. */
export type RootsFound =
  | { readonly kind: 'intact' }
  | { readonly kind: 'missing'; readonly root: Root }
  | { readonly kind: 'unverified'; readonly root: Root; readonly why: string };

/** Where an operator allows rows to be looked for, and as whom. */
export interface RootAccess {
  readonly schemas: readonly string[];
  /** The database with a role that may read these schemas and nothing else. */
  readonly databaseUrl: string | null;
}

/** How long looking for one row may take. */
const timeoutMs = 2_000;

/**
 * Whether each root of a resource has a row with its key. It reads by a connection of its own, whose role may do nothing else, in a transaction that
 * cannot write, by quoted names, only in schemas that an operator allows, and nothing but keys.
 */
export async function verifyRoots(
  { schemas, databaseUrl }: RootAccess,
  { roots, key }: { readonly roots: readonly Root[]; readonly key: string },
): Promise<RootsFound> {
  for (const root of roots) {
    if (!schemas.includes(root.schema))
      return { kind: 'unverified', root, why: 'COORDINATOR_PLUGIN_SCHEMAS does not name the schema' };
    if (databaseUrl === null) return { kind: 'unverified', root, why: 'COORDINATOR_PLUGIN_DATABASE_URL is not set' };
    const found = await verifyRoot(databaseUrl, root, key);
    if (found.kind !== 'intact') return found;
  }
  return { kind: 'intact' };
}

async function verifyRoot(databaseUrl: string, root: Root, key: string): Promise<RootsFound> {
  try {
    return await readForeignTables(databaseUrl, { statementMs: timeoutMs }, (reader) => findRow(reader, root, key));
  } catch (error) {
    const state = sqlState(error) ?? '';
    return isMissing(state) ? { kind: 'missing', root } : { kind: 'unverified', root, why: describeFailure(state) };
  }
}

async function findRow(reader: ForeignReader, root: Root, key: string): Promise<RootsFound> {
  if (await isPowerful(reader))
    return {
      kind: 'unverified',
      root,
      why: 'the role of COORDINATOR_PLUGIN_DATABASE_URL may do more than read the schemas of plugins',
    };
  const table = await inspectRoot(reader, root);
  if (!table) return { kind: 'missing', root };
  const why = findDanger(table);
  if (why !== null) return { kind: 'unverified', root, why };
  return (await hasRow(reader, root, key, table.type)) ? { kind: 'intact' } : { kind: 'missing', root };
}

/** Why the table is not read: functions of those who made it could run. */
function findDanger({ isBuiltIn, isPlain }: RootTable): string | null {
  if (!isBuiltIn) return 'the type of the column does not come with PostgreSQL';
  if (!isPlain)
    return 'the table has row security, rules, partitions or children, a generated key, or an index or statistics with an expression or a condition';
  return null;
}

/** There is no such schema or table, or the key is no value of the column's type, so that no row has it. */
function isMissing(state: string): boolean {
  return ['3F000', '42P01'].includes(state) || state.startsWith('22');
}

function describeFailure(state: string): string {
  if (state === '57014') return `it took longer than ${timeoutMs / 1000} s`;
  if (state === '42501') return 'the role of COORDINATOR_PLUGIN_DATABASE_URL may not read it';
  if (state.startsWith('28')) return 'the database refuses the role of COORDINATOR_PLUGIN_DATABASE_URL';
  return state === '42809' ? 'it is not a table' : 'the database did not answer';
}
