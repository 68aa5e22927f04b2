import type { z } from 'zod';
import { assemblyEvents } from './assemblies/events.ts';
import { driftEvents } from './drift/events.ts';
import { environmentEvents } from './environments/events.ts';
import { holdEvents } from './holds/events.ts';
import { instanceEvents } from './instances/events.ts';
import { quotaEvents } from './quotas/events.ts';
import { templateEvents } from './registry/events.ts';
import { runEvents } from './runs/events/events.ts';
import { scheduleEvents } from './schedules/events.ts';
import { settingsEvents } from './settings/events.ts';
import type { EventType } from './shared/events/event-type.ts';
import { undoEvents } from './undo/events.ts';
import { workerEvents } from './workers/events.ts';

/** Every type of event that some area publishes. An area with a new `events.ts` adds it here. */
export const eventTypes = {
  ...environmentEvents,
  ...holdEvents,
  ...templateEvents,
  ...runEvents,
  ...assemblyEvents,
  ...undoEvents,
  ...driftEvents,
  ...scheduleEvents,
  ...instanceEvents,
  ...workerEvents,
  ...settingsEvents,
  ...quotaEvents,
} as const satisfies Record<string, EventType>;

export type EventTypeName = keyof typeof eventTypes;

/** What an event of a type holds. */
export type EventData<Type extends EventTypeName> = z.input<(typeof eventTypes)[Type]['data']>;
