import { SigningKeySchema } from './entity.ts';

export const entities = [SigningKeySchema] as const;
