import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

/** Active keys are revoked when their principal is deleted and when their service account is transferred. */
const activeKeysRevoked = {
  rows: 'ended',
  at: 'revoked_at',
  when: (row: Row<'revoked_at'>) => sql<SqlBool>`${row('revoked_at')} is null`,
} as const;

/** Only enabled users count as owners: a service account or a disabled user could not manage what it owns alone. */
export function isAbleToOwn(row: Row<'kind' | 'enabled' | 'deleted_at'>) {
  return sql<SqlBool>`${row('kind')} = 'user' and ${row('enabled')} and ${row('deleted_at')} is null`;
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
        columns: ['user_id'],
        cascade: {
          rows: 'ended',
          at: 'revoked_at',
          when: (row) => sql<SqlBool>`${row('revoked_at')} is null and ${row('expires_at')} > now()`,
        },
      },
    ],
  },
  {
    kind: 'password_reset',
    table: 'password_resets',
    key: ['user_id'],
    owners: [{ kind: 'user', columns: ['user_id'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'principal', columns: ['issued_by'], kept: 'a link is void while whoever made it may not manage users' },
    ],
  },
  {
    kind: 'email_confirmation',
    table: 'email_confirmations',
    key: ['user_id'],
    owners: [{ kind: 'user', columns: ['user_id'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'principal', columns: ['issued_by'], kept: 'a token stays valid after the user who made it is deleted' },
    ],
  },
  {
    kind: 'api_key',
    table: 'api_keys',
    label: 'name',
    owners: [
      { kind: 'principal', columns: ['principal_id'], cascade: activeKeysRevoked, onTransfer: activeKeysRevoked },
    ],
    references: [
      {
        kind: 'principal',
        columns: ['issued_by'],
        blocker: {
          message: 'has issued API keys of others',
          remedy: 'which history keeps: disable the user instead',
          when: (row) => sql<SqlBool>`${row('issued_by')} <> ${row('principal_id')}`,
          names: ['principal'],
          onlyOf: 'user',
        },
        kept: 'a key always names the user who answers for it',
      },
      { kind: 'api_key', columns: ['rotated_from'], kept: 'keys are never deleted, so each can name its predecessor' },
    ],
  },
  {
    kind: 'api_key_use',
    table: 'api_key_uses',
    key: ['key_id'],
    owners: [{ kind: 'api_key', columns: ['key_id'], kept: 'keys are never deleted' }],
  },
] as const satisfies readonly Declaration[];
