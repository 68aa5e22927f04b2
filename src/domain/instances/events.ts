import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';

/** What happens to instances, beside what their runs do. */
export const instanceEvents = {
  'instance.created': {
    subject: 'instance',
    summary: 'Somebody made an instance without running anything',
    data: z.strictObject({ name: z.string(), template_id: z.string(), environment_id: z.string().nullable() }),
  },
  'instance.deleted': {
    subject: 'instance',
    summary: 'Somebody deleted an instance that held nothing',
    data: z.strictObject({ name: z.string() }),
  },
  'instance.state_imported': {
    subject: 'instance',
    summary: 'Somebody imported a state into an instance',
    data: z.strictObject({ serial: z.number().int(), resource_count: z.number().int() }),
  },
  'instance.state_forgotten': {
    subject: 'instance',
    summary: 'Somebody undid the import of a state',
    data: z.strictObject({ serial: z.number().int(), resource_count: z.number().int() }),
  },
  'instance.unlocked': {
    subject: 'instance',
    summary: 'Somebody freed an instance from a run that had ended',
    data: z.strictObject({ run_id: z.string() }),
  },
  'instance.readers_changed': {
    subject: 'instance',
    summary: 'Somebody changed who may read the outputs of an instance',
    data: z.strictObject({ team_ids: z.array(z.string()), environment_ids: z.array(z.string()) }),
  },
  'instance.follow_changed': {
    subject: 'instance',
    summary: 'Somebody let an instance follow the outputs that it was deployed with, or ended it',
    data: z.strictObject({ enabled: z.boolean() }),
  },
  'instance.follow_started': {
    subject: 'instance',
    summary: 'Outputs that an instance was deployed with changed, and it follows them by a run',
    data: z.strictObject({ run_id: z.string(), started_by_run_id: z.string().nullable() }),
  },
  'instance.follow_failed': {
    subject: 'instance',
    summary: 'Outputs that an instance was deployed with changed, and it could not follow them',
    data: z.strictObject({ reason: z.string() }),
  },
  'instance.expired': {
    subject: 'instance',
    summary: "An instance outlived its environment's time to live, and a run destroys it",
    data: z.strictObject({ run_id: z.string() }),
  },
} as const satisfies Record<string, EventType>;
