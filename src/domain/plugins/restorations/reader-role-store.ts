import type { ForeignReader } from '#database/foreign-tables.ts';

/**
 * What the role of a connection may do beyond reading tables of the schemas; null if that is nothing. Functions of whoever made a table can run with its
 * rights, however carefully the table is looked at before. So the role has no attribute, belongs to no role, owns nothing, has rights on nothing
 * but tables, schemas and databases, changes nothing, makes nothing, and reads nothing elsewhere. What everybody may do counts too, but for
 * what PostgreSQL itself lets everybody do, for reading what an extension shows, and for temporary tables.
 */
export async function findExcess(reader: ForeignReader, schemas: readonly string[]): Promise<string | null> {
  const [row] = await reader.rows<{ excess: string }>(
    `with me as (select * from pg_roles where rolname = session_user), ${relations}
     select excess from (${[...ofRole, ...ofObjects].join(' union all ')}) as found limit 1`,
    [[...schemas]],
  );
  return row?.excess ?? null;
}

/** Tables and what is like them, each with whether it is in a schema of PostgreSQL, belongs to an extension, or names the role among its rights. */
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
  // Rights on functions, foreign servers, languages, types, large objects, parameters and whatever else PostgreSQL will have.
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
