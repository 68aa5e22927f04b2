import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

/** Active keys are revoked when their principal is deleted and when their service account is transferred. */
const activeKeysRevoked = {
  rows: 'ended',
  at: 'revokedAt',
  when: (row: Row<'revokedAt'>) => sql<SqlBool>`${row('revokedAt')} is null`,
} as const;

/** Only enabled users count as owners: a service account or a disabled user could not manage what it owns alone. */
export function isAbleToOwn(row: Row<'kind' | 'enabled' | 'deletedAt'>) {
  return sql<SqlBool>`${row('kind')} = 'user' and ${row('enabled')} and ${row('deletedAt')} is null`;
}

export const identityKinds = [
  {
    kind: 'principal',
    table: 'principals',
    label: (row) => sql<string>`'"' || ${row('name')} || '"'`,
    revision: true,
    generation: true,
    tombstone: true,
    disableable: true,
    ableToOwn: isAbleToOwn,
  },
  { kind: 'user', table: 'users', extends: 'principal' },
  {
    kind: 'session',
    table: 'sessions',
    owners: [
      {
        kind: 'user',
        columns: ['userId'],
        cascade: {
          rows: 'ended',
          at: 'revokedAt',
          when: (row) => sql<SqlBool>`${row('revokedAt')} is null and ${row('expiresAt')} > now()`,
        },
      },
    ],
  },
  {
    kind: 'password_reset',
    table: 'password_resets',
    key: ['userId'],
    owners: [{ kind: 'user', columns: ['userId'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'principal', columns: ['issuedBy'], kept: 'a link is void while whoever made it may not manage users' },
    ],
  },
  {
    kind: 'email_confirmation',
    table: 'email_confirmations',
    key: ['userId'],
    owners: [{ kind: 'user', columns: ['userId'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'principal', columns: ['issuedBy'], kept: 'a token stays valid after the user who made it is deleted' },
    ],
  },
  {
    kind: 'api_key',
    table: 'api_keys',
    label: 'name',
    owners: [
      { kind: 'principal', columns: ['principalId'], cascade: activeKeysRevoked, onTransfer: activeKeysRevoked },
    ],
    references: [
      {
        kind: 'principal',
        columns: ['issuedBy'],
        blocker: {
          message: 'has issued API keys of others',
          remedy: 'which history keeps: disable the user instead',
          when: (row) => sql<SqlBool>`${row('issuedBy')} <> ${row('principalId')}`,
          names: ['principal'],
          onlyOf: 'user',
        },
        kept: 'a key always names the user who answers for it',
      },
      { kind: 'api_key', columns: ['rotatedFrom'], kept: 'keys are never deleted, so each can name its predecessor' },
    ],
  },
  {
    kind: 'api_key_use',
    table: 'api_key_uses',
    key: ['keyId'],
    owners: [{ kind: 'api_key', columns: ['keyId'], kept: 'keys are never deleted' }],
  },
] as const satisfies readonly Declaration[];
