import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { attemptStates } from './model.ts';

const by = z.string();

/** The events of attempts at undoing a run. Clients match the types, so these never change. */
export const undoEvents = {
  'selective_undo.requested': {
    subject: 'selective_undo',
    summary: 'A check of what undoing a run would change was requested',
    data: z.strictObject({ by, run_id: z.string() }),
  },
  'selective_undo.changed': {
    subject: 'selective_undo',
    summary: 'The state of an attempt at undoing a run has changed',
    data: z.strictObject({ state: z.enum(attemptStates), problem: z.string().nullable() }),
  },
  'selective_undo.promoted': {
    subject: 'selective_undo',
    summary: 'The undo of a run was promoted: a new run deploys it, and may wait for approval',
    data: z.strictObject({ by, run_id: z.string() }),
  },
} as const satisfies Record<string, EventType>;
