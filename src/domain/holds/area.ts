import { holdEvents } from './events.ts';

export const events = holdEvents;
