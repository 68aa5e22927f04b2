import { type SqlBool, sql } from 'kysely';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { heartbeatExpiry } from './heartbeats.ts';

const stillListed = 'a pool may keep naming what was deleted; nothing deleted uses a pool';

export const workerKinds = [
  {
    kind: 'worker',
    table: 'workers',
    label: 'host',
    references: [
      {
        kind: 'worker_pool',
        columns: [],
        matches: (row, name) => sql<SqlBool>`${row('pools')} @> jsonb_build_array(${name}::text)`,
        blocker: {
          message: 'has live workers; without its rules they would serve every team',
          remedy: 'stop them or take it out of their WORKER_POOLS first',
          when: (row) => sql<SqlBool>`${row('heartbeatAt')} > ${heartbeatExpiry}`,
        },
      },
    ],
  },
  {
    kind: 'worker_pool',
    table: 'worker_pools',
    key: ['name'],
    label: 'name',
    revision: true,
    references: [
      { kind: 'team', columns: ['teamIds'], kept: stillListed, onTransfer: { rows: 'unlisted', from: 'teamIds' } },
      {
        kind: 'environment',
        columns: ['environmentIds'],
        kept: stillListed,
        onTransfer: { rows: 'unlisted', from: 'environmentIds', withOwner: true },
      },
    ],
  },
] as const satisfies readonly Declaration[];
