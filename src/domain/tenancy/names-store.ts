import { type Kysely, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';

/** The tables of things that pages name by their ids. */
export const namedTables = [
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
export type NamedTable = (typeof namedTables)[number];

/** Selects the names of things of one kind, also of deleted ones. */
export function selectNames(queries: Kysely<Tables>, table: NamedTable, ids: readonly string[]) {
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
