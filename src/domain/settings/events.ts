import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';

export const settingsEvents = {
  'settings.changed': {
    subject: 'settings',
    summary: 'The settings of the installation were changed',
    covers: ['settings.updated'],
    data: z.strictObject({ by: z.string(), changed: z.array(z.string()), features_off: z.array(z.string()) }),
  },
} as const satisfies Record<string, EventType>;
