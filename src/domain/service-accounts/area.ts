import { ServiceAccountSchema } from './entity.ts';
import { serviceAccountKinds } from './ownership.ts';

export const entities = [ServiceAccountSchema] as const;
export const ownership = serviceAccountKinds;

export const errorCodes = {
  owner_role_too_weak: 'The new owner may not manage a service account with this role.',
} as const;
