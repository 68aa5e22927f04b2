import { EventEmitter, once } from 'node:events';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { NewEvents } from '#domain/shared/events/new-events.ts';

const pollMs = 400;

/** Returns whether a reader wants to be notified of an event, and may be. */
export type EventTest = (event: PublishedEvent) => boolean;

/**
 * Notifies the live lists of this process when something has changed. One poll of the database serves all of them, and there is none while
 * nobody watches. Notifications have no content: a list that gets one is read again.
 */
export class ChangeFeed {
  readonly #orm: Orm;
  readonly #log: Logger;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #watchers = 0;
  #newEvents: NewEvents | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(orm: Orm, log: Logger) {
    this.#orm = orm;
    this.#log = log;
  }

  /** Yields once for events that the test accepts; several at once count as one change. Ends when the signal aborts. */
  async *watch(isWanted: EventTest, signal: AbortSignal): AsyncGenerator<'changed'> {
    let hasChanged = false;
    const onEvent = (event: PublishedEvent) => {
      hasChanged ||= isWanted(event);
    };
    this.#join(onEvent);
    try {
      while (!signal.aborted) {
        if (hasChanged) {
          hasChanged = false;
          yield 'changed';
        } else {
          await once(this.#events, 'read', { signal }).catch(() => undefined); // aborted: the loop ends
        }
      }
    } finally {
      this.#leave(onEvent);
    }
  }

  #join(listener: (event: PublishedEvent) => void): void {
    this.#events.on('event', listener);
    this.#watchers += 1;
    this.#timer ??= setTimeout(() => void this.#poll(), 0);
  }

  #leave(listener: (event: PublishedEvent) => void): void {
    this.#events.off('event', listener);
    this.#watchers -= 1;
  }

  async #poll(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#log.warn({ err: error }, 'could not read the events that live pages follow; trying again');
    }
    if (this.#watchers === 0) this.#newEvents = null;
    this.#timer = this.#watchers > 0 ? setTimeout(() => void this.#poll(), pollMs) : undefined;
  }

  async #read(): Promise<void> {
    this.#newEvents ??= new NewEvents();
    const events = await this.#newEvents.read(this.#orm.em.fork());
    for (const event of events) this.#events.emit('event', event);
    if (events.length > 0) this.#events.emit('read');
  }
}
