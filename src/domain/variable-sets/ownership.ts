import { type SqlBool, sql } from 'kysely';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { ownerLinks } from '#domain/tenancy/owned/links.ts';

export const variableSetKinds = [
  {
    kind: 'variable_set',
    table: 'variable_sets',
    label: 'name',
    revision: true,
    owners: ownerLinks({ cascade: { rows: 'deleted' } }),
  },
  {
    kind: 'variable_set_variable',
    table: 'variable_set_variables',
    key: ['variable_set_id', 'name'],
    label: 'name',
    owners: [{ kind: 'variable_set', columns: ['variable_set_id'], cascade: { rows: 'deleted' } }],
    references: [
      {
        kind: 'principal',
        columns: ['set_by'],
        blocker: {
          message: 'has set secrets of variable sets',
          remedy: 'which history keeps: disable the user instead',
          when: (row) => sql<SqlBool>`${row('sensitive')}`,
          names: ['variable_set', 'variable_set_variable'],
          includes: 'deleted',
          onlyOf: 'user',
        },
        kept: 'the value of a variable outlives the user who set it',
      },
    ],
  },
  {
    kind: 'variable_set_attachment',
    table: 'variable_set_attachments',
    label: (row) => sql<string>`${row('id')}::text`,
    owners: [{ kind: 'variable_set', columns: ['variable_set_id'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'project', columns: ['project_id'], cascade: { rows: 'deleted' } },
      { kind: 'environment', columns: ['environment_id'], cascade: { rows: 'deleted' } },
    ],
  },
] as const satisfies readonly Declaration[];
