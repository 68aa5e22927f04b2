import { sqlState } from '#database/errors.ts';
import { type ForeignReader, OutOfTime, readForeignTables } from '#database/foreign-tables.ts';
import type { Root } from '../model.ts';
import { findExcess } from './reader-role-store.ts';
import { dangers, findRootTable, hasRow, inspectRoot, type RootColumn } from './root-table-store.ts';

/** What came of looking for the rows of a resource. `why` is a sentence that names what is missing or in the way. */
export type RootsFound = { readonly kind: 'intact' } | RootProblem;

interface RootProblem {
  readonly kind: 'missing' | 'unverified';
  readonly root: Root;
  readonly why: string;
}

/** Where an operator allows rows to be looked for, and as whom. */
export interface RootAccess {
  readonly schemas: readonly string[];
  /** The database with a role that may read these schemas and nothing else. */
  readonly databaseUrl: string | null;
}

/** How long looking for one row may take, and how long for all of them. A request waits for 30 seconds. */
const rootMs = 2_000;
const allRootsMs = 15_000;

const role = 'the role of COORDINATOR_PLUGIN_DATABASE_URL';

/**
 * Whether each root of a resource has a row with its key. It reads by a connection of its own, whose role may do nothing else, in a transaction that
 * cannot write, by quoted names, only in schemas that an operator allows, and nothing but keys.
 */
export async function verifyRoots(
  { schemas, databaseUrl }: RootAccess,
  { roots, key }: { readonly roots: readonly Root[]; readonly key: string },
  totalMs = allRootsMs,
): Promise<RootsFound> {
  const [first] = roots;
  if (!first) return { kind: 'intact' };
  const hidden = roots.find(({ schema }) => !schemas.includes(schema));
  if (hidden) return unverified(hidden, `COORDINATOR_PLUGIN_SCHEMAS does not name the schema "${hidden.schema}"`);
  if (databaseUrl === null) return unverified(first, 'COORDINATOR_PLUGIN_DATABASE_URL is not set');
  let current = first;
  const end = Date.now() + totalMs;
  try {
    return await readForeignTables(databaseUrl, { totalMs }, async (reader) => {
      const excess = await findExcess(reader, schemas);
      if (excess) return unverified(first, `${role} may do more than read the schemas of plugins: ${excess}`);
      for (const root of roots) {
        current = root;
        reader.limit(rootMs);
        const problem = await findProblem(reader, root, key);
        if (problem) return problem;
      }
      return { kind: 'intact' } as const;
    });
  } catch (error) {
    const isOver = Date.now() >= end && isTimeout(error);
    return isOver ? unverified(current, tooSlow(totalMs)) : describeFailure(error, current, key);
  }
}

/** What is wrong with a root; undefined if it has the row. */
async function findProblem(reader: ForeignReader, root: Root, key: string): Promise<RootProblem | undefined> {
  const { schema, table } = root;
  const found = await findRootTable(reader, root);
  if (!found) return missing(root, `there is no schema "${schema}"`);
  if (!found.isSchemaOpen) return unverified(root, mayNotRead(`use the schema "${schema}"`));
  if (found.kind === null) return missing(root, `the schema "${schema}" has no table "${table}"`);
  if (!['r', 'p'].includes(found.kind))
    return unverified(root, `it is ${kinds[found.kind] ?? 'no table'}, not a table`);
  const column = await inspectRoot(reader, root);
  if (!column) return missing(root, `it has no column "${root.key}"`);
  const danger = findDanger(column);
  if (danger !== null) return unverified(root, danger);
  return (await hasRow(reader, root, key, column.type)) ? undefined : missing(root, noRow(root, key));
}

const kinds: Readonly<Record<string, string>> = {
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
  S: 'a sequence',
};

const noRow = (root: Root, key: string) => `it has no row whose column "${root.key}" is "${key}"`;

const mayNotRead = (what: string) =>
  `${role} may not ${what}: grant it USAGE on the schema and SELECT on the table, as "admin plugin-reader" does, and "start" for an embedded database`;

function missing(root: Root, why: string): RootProblem {
  return { kind: 'missing', root, why };
}

function unverified(root: Root, why: string): RootProblem {
  return { kind: 'unverified', root, why };
}

/** Why the table is not read: functions of those who made it could run. */
function findDanger({ type, isBuiltIn, dangers: has }: RootColumn): string | null {
  if (!isBuiltIn) return `the type of its key, ${type}, does not come with PostgreSQL`;
  const names = Object.keys(dangers) as (keyof typeof dangers)[];
  const danger = names.find((name) => has[name]);
  return danger ? `it has ${dangers[danger]}` : null;
}

const tooSlow = (totalMs: number) =>
  `all roots together took longer than ${totalMs / 1000} s, so this one and those after it were not looked at to the end`;

function isTimeout(error: unknown): boolean {
  return error instanceof OutOfTime || sqlState(error) === '57014';
}

function describeFailure(error: unknown, root: Root, key: string): RootProblem {
  const state = sqlState(error) ?? '';
  // The key is no value of the column's type, so no row has it.
  if (state.startsWith('22')) return missing(root, noRow(root, key));
  if (['3F000', '42P01'].includes(state)) return missing(root, 'it was deleted meanwhile');
  if (isTimeout(error)) return unverified(root, `it took longer than ${rootMs / 1000} s`);
  if (state === '42501') return unverified(root, mayNotRead('read it'));
  if (state === '42883') return unverified(root, `values of the type of its column "${root.key}" cannot be compared`);
  if (state.startsWith('28')) return unverified(root, `the database refuses ${role}`);
  const isRefused = /^[0-9A-Z]{5}$/.test(state) && !/^(?:08|57P|53)/.test(state);
  return unverified(
    root,
    isRefused ? `the database refused to look for it (SQLSTATE ${state})` : 'the database did not answer',
  );
}
