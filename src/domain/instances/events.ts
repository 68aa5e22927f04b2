import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';

/** The events of instances. Changes by their runs have events of runs. */
export const instanceEvents = {
  'instance.created': {
    subject: 'instance',
    summary: 'An instance was created without a run',
    data: z.strictObject({ name: z.string(), template_id: z.string(), environment_id: z.string().nullable() }),
  },
  'instance.deleted': {
    subject: 'instance',
    summary: 'An empty instance was deleted',
    data: z.strictObject({ name: z.string() }),
  },
  'instance.state_imported': {
    subject: 'instance',
    summary: 'A state was imported into an instance',
    data: z.strictObject({ serial: z.number().int(), resource_count: z.number().int() }),
  },
  'instance.state_forgotten': {
    subject: 'instance',
    summary: 'The import of a state was undone',
    data: z.strictObject({ serial: z.number().int(), resource_count: z.number().int() }),
  },
  'instance.unlocked': {
    subject: 'instance',
    summary: 'An instance was unlocked from a run that had ended',
    data: z.strictObject({ run_id: z.string() }),
  },
  'instance.readers_changed': {
    subject: 'instance',
    summary: 'The readers of the outputs of an instance were changed',
    data: z.strictObject({ team_ids: z.array(z.string()), environment_ids: z.array(z.string()) }),
  },
  'instance.follow_changed': {
    subject: 'instance',
    summary: 'An instance began or ceased to follow the outputs that it was deployed with',
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
