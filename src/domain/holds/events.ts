import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';

const hold = z.strictObject({ reason: z.string(), until: z.string().nullable() });
const nothing = z.strictObject({});

/** What keeps applies from starting, and what lets them start again. The end of a time is no event. */
export const holdEvents = {
  'environment.locked': { subject: 'environment', summary: 'Somebody locked an environment', data: hold },
  'environment.unlocked': { subject: 'environment', summary: 'Somebody unlocked an environment', data: nothing },
  'environment.freeze_windows_changed': {
    subject: 'environment',
    summary: 'Somebody changed the freeze windows of an environment',
    data: z.strictObject({ windows: z.array(z.string()) }),
  },
  'installation.applies_paused': {
    subject: 'installation',
    summary: 'Somebody paused all applies',
    covers: ['applies.paused'],
    data: hold,
  },
  'installation.applies_resumed': {
    subject: 'installation',
    summary: 'Somebody ended the pause of all applies',
    covers: ['applies.resumed'],
    data: nothing,
  },
} as const satisfies Record<string, EventType>;
