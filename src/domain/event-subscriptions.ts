import type { EventSubscription } from './shared/events/subscription.ts';

/**
 * Every subscriber of events. A new one adds its line here, and the worker makes the function that takes its events
 * (`createEventHandlers`, `src/worker/background/event-handlers.ts`). It receives the events that are published from then on.
 * A migration deletes the outbox rows of a subscriber that is removed.
 */
export const eventSubscriptions = [
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
  // The end of a scan, of a candidate check and of the run that undoes another.
  { subscriber: 'selective-undo', types: ['run.finished'] },
  {
    subscriber: 'drift',
    types: ['run.finished', 'drift_monitor.created', 'drift_monitor.changed', 'drift_monitor.deleted'],
  },
  // Instances whose inputs changed say so, and those that follow get runs.
  {
    subscriber: 'following',
    types: [
      'run.finished',
      'instance.readers_changed',
      'instance.deleted',
      'instance.state_imported',
      'instance.state_forgotten',
    ],
  },
] as const satisfies readonly EventSubscription[];
