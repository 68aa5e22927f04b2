import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';

/** What happens to workers. */
export const workerEvents = {
  'worker.lost': {
    subject: 'worker',
    summary: 'A worker ended without deregistering, or its heartbeats stopped',
    data: z.strictObject({ host: z.string(), pools: z.array(z.string()) }),
  },
  'worker.returned': {
    subject: 'worker',
    summary: 'A worker that counted as lost sends heartbeats again',
    data: z.strictObject({ host: z.string(), pools: z.array(z.string()) }),
  },
} as const satisfies Record<string, EventType>;
