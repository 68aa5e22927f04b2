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
