import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

/** An account is named by its principal. */
const named = { names: ['principal'] } as const;

export const serviceAccountKinds = [
  {
    kind: 'service_account',
    table: 'service_accounts',
    extends: 'principal',
    owners: [
      {
        kind: 'team',
        columns: ['ownerTeamId'],
        blocker: { ...named, message: 'has service accounts', remedy: 'delete or transfer them first' },
      },
      {
        kind: 'user',
        columns: ['ownerUserId'],
        blocker: { ...named, message: 'owns service accounts', remedy: 'transfer or delete them first' },
      },
    ],
    references: [{ kind: 'principal', columns: ['createdBy'], kept: 'an account names its creator' }],
  },
] as const satisfies readonly Declaration[];
