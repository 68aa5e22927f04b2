import { ServiceAccountSchema } from './entity.ts';
import { serviceAccountKinds } from './ownership.ts';

export const entities = [ServiceAccountSchema] as const;
export const ownership = serviceAccountKinds;
