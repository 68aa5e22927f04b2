import { AssemblyNodeSchema, AssemblyRunSchema, AssemblySchema, AssemblyVersionSchema } from './entity.ts';
import { assemblyEvents } from './events.ts';
import { assemblyKinds } from './ownership.ts';

export const entities = [AssemblySchema, AssemblyVersionSchema, AssemblyRunSchema, AssemblyNodeSchema] as const;
export const ownership = assemblyKinds;
export const events = assemblyEvents;
