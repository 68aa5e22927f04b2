import { type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';

/** The tables of things that pages name by their ids. */
const namedTables = [
  'organizations',
  'teams',
  'projects',
  'environments',
  'templates',
  'assemblies',
  'instances',
  'plugin_resources',
  'principals',
] as const;
type NamedTable = (typeof namedTables)[number];

/** Ids of things that have names, by their kind. */
export type NamedIds = { readonly [Table in NamedTable]?: readonly (string | null)[] };

/** What a page calls a thing. */
export interface Named {
  readonly id: string;
  readonly name: string;
  /** The organization of a team; null for every other kind. */
  readonly organizationId: string | null;
  /** The name of the environment of an instance; null for every other kind. */
  readonly environment: string | null;
}

export type Names = ReadonlyMap<string, Named>;

/**
 * Reads the names of things by their ids, also of deleted ones. It does not decide who may know them: pass only ids that the
 * caller was shown by an operation, or that name the caller's own memberships.
 */
export async function readNames(em: Em, ids: NamedIds): Promise<Names> {
  const queries = db(em);
  const selects = namedTables.flatMap((table) => {
    const wanted = [...new Set((ids[table] ?? []).filter((id) => id !== null))];
    return wanted.length > 0 ? [selectNames(queries, table, wanted)] : [];
  });
  const [first, ...others] = selects;
  if (!first) return new Map();
  const rows = await others.reduce((all, next) => all.unionAll(next), first).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

function selectNames(queries: Kysely<Tables>, table: NamedTable, ids: readonly string[]) {
  const organizationId = table === 'teams' ? sql.ref('organization_id') : sql`null::uuid`;
  const environment =
    table === 'instances'
      ? sql`(select environments.name from environments where environments.id = instances.environment_id)`
      : sql`null::text`;
  return queries
    .selectFrom(table)
    .where('id', 'in', ids)
    .select([
      'id',
      'name',
      sql<string | null>`${organizationId}`.as('organizationId'),
      sql<string | null>`${environment}`.as('environment'),
    ]);
}
