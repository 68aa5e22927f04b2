import type { Declaration } from './ownership-graph/declaration.ts';

export const sharedKinds = [
  {
    kind: 'command_receipt',
    table: 'command_receipts',
    key: ['key'],
    references: [
      {
        kind: 'principal',
        columns: ['principal_id'],
        kept: 'a key stays bound for good to the principal that used it',
      },
    ],
  },
] as const satisfies readonly Declaration[];
