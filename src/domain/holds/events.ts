import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';

const hold = z.strictObject({ reason: z.string(), until: z.string().nullable() });
const nothing = z.strictObject({});

/** The events of holds and of their ends. The expiry of a hold publishes no event. */
export const holdEvents = {
  'environment.locked': { subject: 'environment', summary: 'An environment was locked', data: hold },
  'environment.unlocked': { subject: 'environment', summary: 'An environment was unlocked', data: nothing },
  'environment.freeze_windows_changed': {
    subject: 'environment',
    summary: 'The freeze windows of an environment were changed',
    data: z.strictObject({ windows: z.array(z.string()) }),
  },
  'installation.applies_paused': {
    subject: 'installation',
    summary: 'All applies were paused',
    covers: ['applies.paused'],
    data: hold,
  },
  'installation.applies_resumed': {
    subject: 'installation',
    summary: 'The pause of all applies was ended',
    covers: ['applies.resumed'],
    data: nothing,
  },
} as const satisfies Record<string, EventType>;
