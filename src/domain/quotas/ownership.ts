import { sql } from 'kysely';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const endsWith = { cascade: { rows: 'deleted' } } as const;

export const quotaTables = [
  {
    kind: 'quota',
    table: 'quotas',
    label: (row) => sql<string>`${row('scope')}`,
    revision: true,
    references: [
      { kind: 'organization', columns: ['organization_id'], ...endsWith },
      { kind: 'team', columns: ['team_id'], ...endsWith },
      { kind: 'environment', columns: ['environment_id'], ...endsWith },
    ],
  },
  {
    kind: 'instance_usage',
    table: 'instance_usages',
    key: ['instance_id', 'month'],
    references: [
      {
        kind: 'instance',
        columns: ['instance_id'],
        kept: 'the logs of a deleted instance stay until their runs are deleted',
      },
    ],
  },
] as const satisfies readonly Declaration[];
