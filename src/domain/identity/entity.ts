import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { PlatformRole, PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import { type ApiKeyKind, emailKey } from './model.ts';

/**
 * A user, a service account, or another principal that can act. Every change of its authority (role, enabled state, memberships) locks this
 * row, and every command of the principal takes a share lock on it, so that no command relies on an authority that is being changed.
 */
export const PrincipalRecordSchema = defineEntity({
  name: 'PrincipalRecord',
  tableName: 'principals',
  properties: {
    id: id(),
    kind: p.string().$type<PrincipalKind>(),
    name: p.string(),
    role: p.string().$type<PlatformRole>().nullable(),
    enabled: p.boolean().default(true),
    /** Raised when the principal is disabled: grants to an earlier generation never become valid again. */
    eligibilityGeneration: p.integer().default(1),
    revision: revision(),
    createdAt: createdAt(),
    deletedAt: at().nullable(),
  },
});
export class PrincipalRecord extends PrincipalRecordSchema.class {
  /** Changes the fields that are present, and raises the revision. */
  change({ name, role, enabled }: { name?: string; role?: PlatformRole; enabled?: boolean }): void {
    if (name !== undefined) this.name = name;
    if (role !== undefined) this.role = role;
    if (enabled === false) this.eligibilityGeneration += 1;
    if (enabled !== undefined) this.enabled = enabled;
    this.revision += 1;
  }
}
PrincipalRecordSchema.setClass(PrincipalRecord);

export const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: () => p.oneToOne(PrincipalRecord).owner().primary().mapToPk().fieldName('id').deleteRule('restrict'),
    email: p.string(),
    /** The address in the form that is compared (`emailKey`). Null for a deleted user, so that the address is free again. */
    emailKey: p.string().nullable().unique(),
    /** Whether it is known that the user receives messages at the address. */
    emailVerified: p.boolean().default(true),
    passwordHash: p.string().hidden(),
    /** Raised by every change of the password. Rehashing the same password at a higher cost does not raise it. */
    passwordGeneration: p.integer().default(1),
    /** The revision of the user's preferences for notifications. */
    preferencesRevision: p.integer().default(1),
  },
});
export class User extends UserSchema.class {
  changeEmail(email: string): void {
    if (emailKey(email) !== this.emailKey) this.emailVerified = false;
    this.email = email;
    this.emailKey = emailKey(email);
  }

  /** Sets another password. A new hash of the same password does not raise the generation. */
  changePassword(hash: string): void {
    this.passwordHash = hash;
    this.passwordGeneration += 1;
  }

  /** Frees the address of a deleted user and removes the password. */
  clearSignIn(): void {
    this.emailKey = null;
    this.passwordHash = '';
  }
}
UserSchema.setClass(User);

export const SessionSchema = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  indexes: [
    { name: 'sessions_user_id_index', properties: ['userId'] },
    { name: 'sessions_expires_at_index', properties: ['expiresAt'] },
  ],
  properties: {
    id: id(),
    userId: () => p.manyToOne(User).mapToPk().fieldName('user_id').deleteRule('restrict'),
    createdAt: createdAt(),
    expiresAt: at(),
    revokedAt: at().nullable(),
    address: p.string().nullable(),
    userAgent: p.string().nullable(),
  },
});
export class Session extends SessionSchema.class {}
SessionSchema.setClass(Session);

/** The one link with which a user may set a new password. A later link replaces it, and any new password removes it. */
export const PasswordResetSchema = defineEntity({
  name: 'PasswordReset',
  tableName: 'password_resets',
  properties: {
    userId: () => p.oneToOne(User).owner().primary().mapToPk().fieldName('user_id').deleteRule('restrict'),
    /** SHA-256 of the link's token. The token is random, so a slow hash would add nothing. */
    verifier: p.blob().unique().hidden(),
    issuedBy: p.uuid(),
    createdAt: createdAt(),
    expiresAt: at(),
  },
});
export class PasswordReset extends PasswordResetSchema.class {}
PasswordResetSchema.setClass(PasswordReset);

/** The one token with which a user may confirm an address. A later token replaces it, and a changed address voids it. */
export const EmailConfirmationSchema = defineEntity({
  name: 'EmailConfirmation',
  tableName: 'email_confirmations',
  properties: {
    userId: () => p.oneToOne(User).owner().primary().mapToPk().fieldName('user_id').deleteRule('restrict'),
    /** The address that it confirms, as `emailKey`. */
    emailKey: p.text(),
    /** SHA-256 of the token. The token is random, so a slow hash would add nothing. */
    verifier: p.blob().unique().hidden(),
    issuedBy: p.uuid(),
    createdAt: createdAt(),
    expiresAt: at(),
  },
});
export class EmailConfirmation extends EmailConfirmationSchema.class {}
EmailConfirmationSchema.setClass(EmailConfirmation);

export const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  indexes: [{ name: 'api_keys_principal_id_index', properties: ['principalId'] }],
  uniques: [
    {
      name: 'api_keys_one_profile_key_unique',
      expression: `create unique index "api_keys_one_profile_key_unique" on "api_keys" ("principal_id") where "kind" = 'profile' and "revoked_at" is null`,
    },
  ],
  properties: {
    id: id(),
    principalId: () => p.manyToOne(PrincipalRecord).mapToPk().fieldName('principal_id').deleteRule('restrict'),
    kind: p.string().$type<ApiKeyKind>().default('personal'),
    name: p.string(),
    /** SHA-256 of the key. The key is random, so a slow hash would add nothing. */
    verifier: p.blob().unique().hidden(),
    /** The key's last four characters, for people to recognize it. */
    hint: p.string(),
    /** The user who answers for the key: the one who made it, or the one responsible for the service account that made it. */
    issuedBy: p.uuid(),
    /** The key that this one replaced. It is unique because a key has at most one successor. */
    rotatedFrom: () => p.oneToOne(ApiKey).owner().mapToPk().fieldName('rotated_from').deleteRule('restrict').nullable(),
    createdAt: createdAt(),
    expiresAt: at().nullable(),
    revokedAt: at().nullable(),
  },
});
export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey);

/** When a key was last used. It has its own table, so that recording a use never waits for rows that authorization locks. */
export const ApiKeyUseSchema = defineEntity({
  name: 'ApiKeyUse',
  tableName: 'api_key_uses',
  properties: {
    keyId: () => p.oneToOne(ApiKey).owner().primary().mapToPk().fieldName('key_id').deleteRule('cascade'),
    lastUsedAt: at(),
  },
});
