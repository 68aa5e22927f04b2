import { type Kysely, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { type NamedTable, namedTables } from '#domain/named-tables.ts';

const noOrganization = sql<string | null>`null::uuid`;
const noName = sql<string | null>`null::text`;

/** Selects the names of resources of one kind, also of deleted ones. */
export function selectNames(queries: Kysely<Tables>, table: NamedTable, ids: readonly string[]) {
  const { organizationId = noOrganization, environment = noName, project = noName } = namedTables[table];
  return queries
    .selectFrom(table)
    .where('id', 'in', ids)
    .select(['id', 'name', organizationId.as('organizationId')])
    .select([environment.as('environment'), project.as('project')]);
}
