import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

/** Memberships end when their principal is deleted, and when a service account gets another owner. */
const membership = { cascade: { rows: 'deleted' }, onTransfer: { rows: 'deleted' } } as const;
const soleOwner = {
  when: (row: Row<'role'>) => sql<SqlBool>`${row('role')} = 'owner'`,
  remedy: 'make another member their owner first',
  onlyOf: 'user',
  unlessShared: true,
} as const;

export const memberKinds = [
  {
    kind: 'organization_member',
    table: 'organization_members',
    owners: [{ kind: 'organization', columns: ['organizationId'], cascade: { rows: 'deleted' } }],
    references: [
      {
        kind: 'principal',
        columns: ['principalId'],
        ...membership,
        blocker: { ...soleOwner, message: 'is the only owner of organizations', names: ['organization'] },
      },
    ],
  },
  {
    kind: 'team_member',
    table: 'team_members',
    owners: [{ kind: 'team', columns: ['teamId'], cascade: { rows: 'deleted' } }],
    references: [
      {
        kind: 'principal',
        columns: ['principalId'],
        ...membership,
        blocker: { ...soleOwner, message: 'is the only owner of teams', names: ['organization', 'team'] },
      },
    ],
  },
] as const satisfies readonly Declaration[];
