import { EventEmitter, once } from 'node:events';
import { FeedPolls } from '#api/pipeline/long-answers/feed-polls.ts';
import type { FeedDeps } from '#api/pipeline/long-answers/row-feed.ts';
import type { Orm } from '#database/database.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { NewEvents } from '#domain/shared/events/new-events.ts';
import { anyEvent, type SignalSource } from '#domain/shared/events/topics.ts';

/** While events are committed one after another, they are read this often. */
const gapMs = 100;

/** Returns whether a reader wants to be notified of an event, and may be. */
export type EventTest = (event: PublishedEvent) => boolean;

/**
 * Notifies the live lists of this process when something has changed. One read of the new events serves all of them, and there is none while
 * nobody watches. Notifications have no content: a list that gets one is read again.
 */
export class ChangeFeed {
  readonly #orm: Orm;
  readonly #signals: SignalSource;
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #polls: FeedPolls;
  #watchers = 0;
  /** Null while nobody watches. */
  #newEvents: NewEvents | null = null;
  #forget: (() => void) | undefined;

  constructor({ orm, log, signals }: FeedDeps) {
    this.#orm = orm;
    this.#signals = signals;
    this.#polls = new FeedPolls({
      log,
      read: () => this.#read(),
      isWatched: () => this.#watchers > 0,
      failure: 'could not read the events that live pages follow',
      gapMs,
    });
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
    if (this.#watchers > 1) return;
    this.#newEvents = new NewEvents();
    this.#forget = this.#signals.on([anyEvent], () => this.#polls.call());
    this.#polls.call();
  }

  #leave(listener: (event: PublishedEvent) => void): void {
    this.#events.off('event', listener);
    this.#watchers -= 1;
    if (this.#watchers > 0) return;
    this.#newEvents = null;
    this.#forget?.();
  }

  async #read(): Promise<void> {
    const events = (await this.#newEvents?.read(this.#orm.em.fork())) ?? [];
    for (const event of events) this.#events.emit('event', event);
    if (events.length > 0) this.#events.emit('read');
  }
}
