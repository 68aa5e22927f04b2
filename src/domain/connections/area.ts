import { ConnectionBindingSchema } from './bindings/entity.ts';
import { ConnectionSchema } from './entity.ts';
import { connectionKinds } from './ownership.ts';

export const entities = [ConnectionSchema, ConnectionBindingSchema] as const;
export const ownership = connectionKinds;
