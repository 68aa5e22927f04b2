import type { EventSubscription } from '#domain/shared/events/event-type.ts';
import { holdEvents } from './events.ts';

export const events = holdEvents;

export const subscriptions = [
  {
    subscriber: 'held-runs',
    types: [
      'environment.locked',
      'environment.unlocked',
      'environment.freeze_windows_changed',
      'environment.protection_changed',
      'installation.applies_paused',
      'installation.applies_resumed',
    ],
  },
] as const satisfies readonly EventSubscription[];

export const errorCodes = {
  environment_locked: 'Another person has locked the environment.',
} as const;
