import { InstanceResourceSchema, InstanceSchema, InstanceSlotSchema, StateVersionSchema } from './entity.ts';
import { instanceEvents } from './events.ts';
import { instanceKinds } from './ownership.ts';

export const entities = [InstanceSchema, InstanceSlotSchema, StateVersionSchema, InstanceResourceSchema] as const;
export const ownership = instanceKinds;
export const events = instanceEvents;
