import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { attemptStates } from './model.ts';

const by = z.string();

/** What happens to attempts at undoing a run. Clients match their types: they never change. */
export const undoEvents = {
  'selective_undo.requested': {
    subject: 'selective_undo',
    summary: 'Somebody asked what undoing a run would change',
    data: z.strictObject({ by, run_id: z.string() }),
  },
  'selective_undo.changed': {
    subject: 'selective_undo',
    summary: 'An attempt at undoing a run is in another state',
    data: z.strictObject({ state: z.enum(attemptStates), problem: z.string().nullable() }),
  },
  'selective_undo.promoted': {
    subject: 'selective_undo',
    summary: 'Somebody had the undo of a run deployed: a run of its own, which may wait for approval',
    data: z.strictObject({ by, run_id: z.string() }),
  },
} as const satisfies Record<string, EventType>;
