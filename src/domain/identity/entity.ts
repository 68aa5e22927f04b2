import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { ApiKeyKind, PlatformRole, PrincipalKind } from './model.ts';

/**
 * Whoever acts. Every change to what a principal may do (role, enabled state, memberships) locks this row,
 * and every command reads it with a share lock: one lock orders authority against its use.
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
    eligibilityGeneration: p.integer().default(1),
    revision: revision(),
    createdAt: createdAt(),
    deletedAt: at().nullable(),
  },
});
export class PrincipalRecord extends PrincipalRecordSchema.class {}
PrincipalRecordSchema.setClass(PrincipalRecord);

export const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: () => p.oneToOne(PrincipalRecord).owner().primary().mapToPk().fieldName('id').deleteRule('restrict'),
    email: p.string(),
    /** The address in the form that is compared: lower case. Null once the user is deleted, so that it is free again. */
    emailKey: p.string().nullable().unique(),
    passwordHash: p.string().hidden(),
    /** Raised by every change of the password; a hash that is only made anew stays of its generation. */
    passwordGeneration: p.integer().default(1),
  },
});
export class User extends UserSchema.class {}
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

/** The one link by which a user may set a new password: a later one takes its place, any new password takes it away. */
export const PasswordResetSchema = defineEntity({
  name: 'PasswordReset',
  tableName: 'password_resets',
  properties: {
    userId: () => p.oneToOne(User).owner().primary().mapToPk().fieldName('user_id').deleteRule('restrict'),
    /** SHA-256 of the link's token: it is random, so a slow hash would add nothing. */
    verifier: p.blob().unique().hidden(),
    issuedBy: p.uuid(),
    createdAt: createdAt(),
    expiresAt: at(),
  },
});
export class PasswordReset extends PasswordResetSchema.class {}
PasswordResetSchema.setClass(PasswordReset);

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
    /** SHA-256 of the key: it is random, so a slow hash would add nothing. */
    verifier: p.blob().unique().hidden(),
    /** The last four characters, by which a person recognizes a key. */
    hint: p.string(),
    /** Who answers for it: the person who made it, or on whose behalf a service account did. */
    issuedBy: p.uuid(),
    /** The key that this one replaced. Unique: a key has one successor. */
    rotatedFrom: () => p.oneToOne(ApiKey).owner().mapToPk().fieldName('rotated_from').deleteRule('restrict').nullable(),
    createdAt: createdAt(),
    expiresAt: at().nullable(),
    revokedAt: at().nullable(),
  },
});
export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey);

/** When a key was last used; apart from the key, so that recording it never waits for rows that authorization locks. */
export const ApiKeyUseSchema = defineEntity({
  name: 'ApiKeyUse',
  tableName: 'api_key_uses',
  properties: {
    keyId: () => p.oneToOne(ApiKey).owner().primary().mapToPk().fieldName('key_id').deleteRule('cascade'),
    lastUsedAt: at(),
  },
});
export class ApiKeyUse extends ApiKeyUseSchema.class {}
ApiKeyUseSchema.setClass(ApiKeyUse);
