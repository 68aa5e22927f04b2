import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { type PublishedEvent, readEvent } from '#domain/shared/events/event-store.ts';
import { Sweeper } from './sweeper.ts';

/**
 * Receives one event. It is called at least once for each event, and for the events of one subject in order: an event that it
 * rejects is delivered again later, before any other event of that subject. It must settle.
 */
export type EventHandler = (event: PublishedEvent) => Promise<void>;

/** Delivers events to their subscribers, each by a sweeper of its own, so that none waits for another. */
export class EventDelivery {
  readonly #sweepers: readonly Sweeper[];

  /** @param handlers by the names of their subscribers */
  constructor({ orm, log }: { orm: Orm; log: Logger }, handlers: Readonly<Record<string, EventHandler>>) {
    this.#sweepers = Object.entries(handlers).map(
      ([subscriber, handle]) =>
        new Sweeper({
          orm,
          log,
          subscriber,
          deliver: async ({ payload }) => {
            if (payload.kind !== 'event') throw new Error('only the engine receives messages');
            const event = await readEvent(orm.em.fork(), payload.event_id);
            if (event) await handle(event);
          },
        }),
    );
  }

  start(): void {
    for (const sweeper of this.#sweepers) sweeper.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sweepers.map((sweeper) => sweeper.stop()));
  }
}
