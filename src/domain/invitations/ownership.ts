import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

/** Pending invitations end with the organization or team that they offer. */
const openInvitations = {
  rows: 'ended',
  at: 'revokedAt',
  when: (row: Row<'acceptedAt' | 'revokedAt'>) =>
    sql<SqlBool>`${row('acceptedAt')} is null and ${row('revokedAt')} is null`,
} as const;

export const invitationKinds = [
  {
    kind: 'invitation',
    table: 'invitations',
    revision: true,
    owners: [
      { kind: 'organization', columns: ['organizationId'], cascade: openInvitations },
      {
        kind: 'team',
        columns: ['teamId'],
        cascade: openInvitations,
        onTransfer: { ...openInvitations, revised: true },
      },
    ],
    references: [
      {
        kind: 'principal',
        columns: ['invitedBy', 'acceptedBy'],
        blocker: {
          message: 'has sent or accepted invitations to',
          remedy: 'which history keeps: disable the user instead',
          names: ['organization'],
          includes: 'deleted',
          onlyOf: 'user',
        },
      },
    ],
  },
] as const satisfies readonly Declaration[];
