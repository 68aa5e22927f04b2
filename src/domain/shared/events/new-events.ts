import type { Em } from '#database/database.ts';
import type { EventCursor } from './cursor.ts';
import { readEventsAfter, startCursor } from './cursor-store.ts';
import type { PublishedEvent } from './event-type.ts';

const batch = 500;

/** The events that are committed from the first read on, for a reader that keeps its place in memory. */
export class NewEvents {
  #cursor: EventCursor | null = null;

  /** Returns the events since the last read, at most 500; the next read returns the rest. The first read returns none. */
  async read(em: Em): Promise<PublishedEvent[]> {
    this.#cursor ??= await startCursor(em);
    const { events, cursor } = await readEventsAfter(em, this.#cursor, batch);
    this.#cursor = cursor;
    return events;
  }
}
