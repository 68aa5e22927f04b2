import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

/** Pending invitations end with the organization or team that they lead into. */
const openInvitations = {
  rows: 'ended',
  at: 'revoked_at',
  when: (row: Row<'accepted_at' | 'revoked_at'>) =>
    sql<SqlBool>`${row('accepted_at')} is null and ${row('revoked_at')} is null`,
} as const;

export const invitationKinds = [
  {
    kind: 'invitation',
    table: 'invitations',
    revision: true,
    owners: [
      { kind: 'organization', columns: ['organization_id'], cascade: openInvitations },
      {
        kind: 'team',
        columns: ['team_id'],
        cascade: openInvitations,
        onTransfer: { ...openInvitations, revised: true },
      },
    ],
    references: [
      {
        kind: 'principal',
        columns: ['invited_by', 'accepted_by'],
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
