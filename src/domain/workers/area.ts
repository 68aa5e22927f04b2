import { WorkerPoolSchema, WorkerSchema } from './entity.ts';
import { workerEvents } from './events.ts';
import { workerKinds } from './ownership.ts';

export const entities = [WorkerSchema, WorkerPoolSchema] as const;
export const ownership = workerKinds;
export const events = workerEvents;
