import {
  ApiKeySchema,
  ApiKeyUseSchema,
  EmailConfirmationSchema,
  PasswordResetSchema,
  PrincipalRecordSchema,
  SessionSchema,
  UserSchema,
} from './entity.ts';
import { identityKinds } from './ownership.ts';

export const entities = [
  PrincipalRecordSchema,
  UserSchema,
  SessionSchema,
  PasswordResetSchema,
  EmailConfirmationSchema,
  ApiKeySchema,
  ApiKeyUseSchema,
] as const;
export const ownership = identityKinds;

export const errorCodes = {
  email_unverified: 'Your e-mail address was changed, and is not confirmed yet.',
  already_bootstrapped: 'The installation has users already.',
  email_taken: 'Another user has this e-mail address.',
  key_not_active: 'The API key is revoked, expired or replaced.',
  key_not_rotatable: 'The profile key is regenerated instead of rotated.',
  key_rotated: 'The API key was rotated already. Rotate its successor.',
  user_disabled: 'The user is disabled.',
  email_confirmed: 'The e-mail address is confirmed already.',
} as const;
export const named = { principals: {} };
