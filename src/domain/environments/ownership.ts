import { type SqlBool, sql } from 'kysely';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

export const environmentKinds = [
  {
    kind: 'environment',
    table: 'environments',
    label: 'slug',
    revision: true,
    generation: true,
    tombstone: true,
    archivable: true,
    slug: { constraint: 'environments_project_slug_unique' },
    owners: [
      {
        kind: 'project',
        columns: ['projectId'],
        blocker: { message: 'has environments', remedy: 'delete them first' },
        onTransfer: 'revised',
      },
    ],
    references: [
      {
        kind: 'principal',
        columns: ['lock'],
        matches: (row, id) => sql<SqlBool>`${row('lock')} #>> '{by,id}' = ${id}::text`,
        kept: 'a lock outlives who set it',
      },
    ],
  },
  {
    kind: 'environment_variable',
    table: 'environment_variables',
    key: ['environmentId', 'name'],
    label: 'name',
    owners: [{ kind: 'environment', columns: ['environmentId'], cascade: { rows: 'deleted' } }],
    references: [
      {
        kind: 'principal',
        columns: ['setBy'],
        blocker: {
          message: 'has set secrets',
          remedy: 'which history keeps: disable the user instead',
          when: (row) => sql<SqlBool>`${row('sensitive')}`,
          names: ['environment', 'environment_variable'],
          includes: 'deleted',
          onlyOf: 'user',
        },
        kept: 'the value of a variable outlives the user who set it',
      },
    ],
  },
] as const satisfies readonly Declaration[];
