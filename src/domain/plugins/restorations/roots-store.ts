import { sqlState } from '#database/errors.ts';
import { type ForeignReader, OutOfTime, readForeignTables } from '#database/foreign-tables.ts';
import type { Root } from '../model.ts';
import { dangers, findRootTable, hasRow, inspectRoot, type RootColumn } from './root-table-store.ts';

/**
 * A right of the connection's role beyond reading tables of the schemas; null if it has none. Functions of the author of a table could run
 * with the rights of the role, even though the table is checked first. So the role must have no attributes, belong to no role, own nothing,
 * have rights only on tables, schemas and databases, and be able to change, create or read nothing else. Rights of everybody count too,
 * except those that PostgreSQL itself grants, reading relations of extensions, and temporary tables.
 */
async function findExcess(reader: ForeignReader, schemas: readonly string[]): Promise<string | null> {
  const [row] = await reader.rows<{ excess: string }>(
    `with me as (select * from pg_roles where rolname = session_user), ${relations}
     select excess from (${[...ofRole, ...ofObjects].join(' union all ')}) as found limit 1`,
    [[...schemas]],
  );
  return row?.excess ?? null;
}

/** Tables and other relations, each with whether it is in a schema of PostgreSQL, belongs to an extension, or grants rights to the role. */
const relations = `relations as (
  select c.oid, c.relkind, format('%I.%I', n.nspname, c.relname) as name, n.nspname = any($1::text[]) as allowed,
         n.nspname in ('pg_catalog', 'information_schema', 'pg_toast') as builtin,
         exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e') as extension,
         exists (select from aclexplode(c.relacl) a, me where a.grantee = me.oid) as named
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S'))`;

const ofRole = [
  `select 'it is a superuser' as excess from me where rolsuper`,
  `select 'it may make roles or databases, replicate, or pass row security' from me
    where rolcreaterole or rolcreatedb or rolreplication or rolbypassrls`,
  `select format('it is a member of the role %I', r.rolname) from pg_auth_members m join me on m.member = me.oid join pg_roles r on r.oid = m.roleid`,
  `select 'it owns something' from pg_shdepend d join me on d.refobjid = me.oid
    where d.refclassid = 'pg_authid'::regclass and d.deptype = 'o'`,
  // Rights on all other kinds of objects, such as functions, foreign servers, languages, types, large objects and parameters, including
  // kinds of later versions of PostgreSQL.
  `select format('it has rights on an entry of %s', d.classid::regclass) from pg_shdepend d join me on d.refobjid = me.oid
    where d.refclassid = 'pg_authid'::regclass and d.deptype = 'a'
      and d.dbid in (0, (select oid from pg_database where datname = current_database()))
      and d.classid not in ('pg_class'::regclass, 'pg_namespace'::regclass, 'pg_database'::regclass, 'pg_default_acl'::regclass)`,
];

const mayMaintain = `case when current_setting('server_version_num')::int >= 170000 then has_table_privilege(oid, 'maintain') else false end`;

const ofObjects = [
  `select 'it may make schemas in the database' from me where has_database_privilege(current_database(), 'create')`,
  `select format('it may make things in the schema %I', nspname) from pg_namespace
    where nspname !~ '^pg_(toast_)?temp_' and has_schema_privilege(oid, 'create')`,
  `select format('it may change %s', name) from relations
    where relkind <> 'S' and (named or not builtin) and (has_table_privilege(oid, 'insert, update, delete, truncate, references, trigger')
      or has_any_column_privilege(oid, 'insert, update, references') or ${mayMaintain})`,
  `select format('it may advance the sequence %s', name) from relations 
    where case when relkind = 'S' then has_sequence_privilege(oid, 'usage, update') else false end`,
  `select format('it may read %s', name) from relations
    where relkind <> 'S' and not allowed and (named or not builtin and not extension and has_any_column_privilege(oid, 'select'))`,
];

/** The result of checking the roots of a resource. `why` is a sentence that names what is missing or what prevents the check. */
export type RootsFound = { readonly kind: 'intact' } | RootProblem;

interface RootProblem {
  readonly kind: 'missing' | 'unverified';
  readonly root: Root;
  readonly why: string;
}

/** The schemas in which an operator allows the check, and the connection for it. */
export interface RootAccess {
  readonly schemas: readonly string[];
  /** The URL of the database with a role that may read only these schemas; null: no check is possible. */
  readonly databaseUrl: string | null;
}

/** The time limits for finding one row and all rows. A request waits for 30 seconds. */
const rootMs = 2_000;
const allRootsMs = 15_000;

const role = 'the role of COORDINATOR_PLUGIN_DATABASE_URL';

/**
 * Whether each root of a resource has a row with its key. It uses a separate connection, whose role has no other rights, in a read-only
 * transaction. It quotes all names, and reads only keys, and only in schemas that an operator allows.
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

/** The problem of a root; undefined if its table has the row. */
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

/** Why reading the table is refused, since functions of its author could run; null if it is safe. */
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
  // The key is not a valid value of the column's type, so no row has it.
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
