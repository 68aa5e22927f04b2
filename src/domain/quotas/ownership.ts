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
      { kind: 'organization', columns: ['organizationId'], ...endsWith },
      { kind: 'team', columns: ['teamId'], ...endsWith },
      { kind: 'environment', columns: ['environmentId'], ...endsWith },
    ],
  },
  {
    kind: 'instance_usage',
    table: 'instance_usages',
    key: ['instanceId', 'month'],
    references: [
      {
        kind: 'instance',
        columns: ['instanceId'],
        kept: 'the logs of a deleted instance stay until their runs are deleted',
      },
    ],
  },
] as const satisfies readonly Declaration[];
