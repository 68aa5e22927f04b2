import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { WorkerPoolSchema, WorkerSchema } from './entity.ts';
import { workerEvents } from './events.ts';
import { workerKinds } from './ownership.ts';

export const entities = [WorkerSchema, WorkerPoolSchema] as const;
export const ownership = workerKinds;
export const events = workerEvents;

export const systemActions = {
  'worker.lost': {
    summary: 'Report a worker that ended without deregistering, or whose heartbeats stopped',
    resourceType: 'workers',
    actor: 'worker supervision',
  },
  'worker.returned': {
    summary: 'Report a lost worker that sends heartbeats again',
    resourceType: 'workers',
    actor: 'worker supervision',
  },
} as const satisfies Record<string, DeclaredAction>;

export const errorCodes = {
  pool_required: 'The default pool cannot be deleted.',
  pool_without_rules: 'No operator has created the worker pool.',
} as const;
