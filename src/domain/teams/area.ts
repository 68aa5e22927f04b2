import { TeamSchema } from './entity.ts';
import { teamKinds } from './ownership.ts';

export const entities = [TeamSchema] as const;
export const ownership = teamKinds;
