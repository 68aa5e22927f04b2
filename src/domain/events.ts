import type { z } from 'zod';
import { mergeParts, type RecordOf } from './areas.ts';

type EventTypes = RecordOf<'events'>;

/** Every type of event that some area publishes. */
export const eventTypes: EventTypes = mergeParts('events');

export type EventTypeName = keyof EventTypes;

/** The payload of an event of a type. */
export type EventData<Type extends EventTypeName> = z.input<EventTypes[Type]['data']>;
