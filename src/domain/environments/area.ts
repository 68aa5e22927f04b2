import { environmentCandidates } from './candidates-store.ts';
import { EnvironmentSchema, EnvironmentVariableSchema } from './entity.ts';
import { environmentEvents } from './events.ts';
import { environmentKinds } from './ownership.ts';

export const entities = [EnvironmentSchema, EnvironmentVariableSchema] as const;
export const ownership = environmentKinds;
export const events = environmentEvents;
export const searched = { environment: environmentCandidates };
export const named = { environments: {} };
