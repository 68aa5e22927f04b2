import { type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { type NamedTable, namedTables } from '#domain/named-tables.ts';

/** Ids of resources that have names, by their kind. */
type NamedIds = { readonly [Table in NamedTable]?: readonly (string | null)[] };

/** The name under which a page shows a resource. */
export interface Named {
  readonly id: string;
  readonly name: string;
  /** The organization of a team; null for every other kind. */
  readonly organizationId: string | null;
  /** The name of the environment of an instance; null for every other kind. */
  readonly environment: string | null;
  /** The name of the project of that environment. */
  readonly project: string | null;
}

export type Names = ReadonlyMap<string, Named>;

/**
 * Reads the names of resources by their ids, also of deleted ones. It does not check who may know them. Pass only ids that an operation
 * returned to the caller, or ids of the caller's own memberships.
 */
export async function readNames(em: Em, ids: NamedIds): Promise<Names> {
  const queries = db(em);
  const selects = (Object.keys(namedTables) as NamedTable[]).flatMap((table) => {
    const wanted = [...new Set((ids[table] ?? []).filter((id) => id !== null))];
    return wanted.length > 0 ? [selectNames(queries, table, wanted)] : [];
  });
  const [first, ...others] = selects;
  if (!first) return new Map();
  const rows = await others.reduce((all, next) => all.unionAll(next), first).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

const noOrganization = sql<string | null>`null::uuid`;
const noName = sql<string | null>`null::text`;

/** Selects the names of resources of one kind, also of deleted ones. */
function selectNames(queries: Kysely<Tables>, table: NamedTable, ids: readonly string[]) {
  const { organizationId = noOrganization, environment = noName, project = noName } = namedTables[table];
  return queries
    .selectFrom(table)
    .where('id', 'in', ids)
    .select(['id', 'name', organizationId.as('organizationId')])
    .select([environment.as('environment'), project.as('project')]);
}
