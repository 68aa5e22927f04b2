import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { readEvent } from '#domain/shared/events/event-store.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import type { DueEntry } from '#domain/shared/events/outbox-store.ts';
import type { SignalSource } from '#domain/shared/events/topics.ts';
import type { PeriodicTask } from './periodic-task.ts';
import { openSweeper } from './sweeper.ts';

/**
 * Receives one event. It is called at least once for each event, and for the events of one subject in order: an event that it
 * rejects is delivered again later, before any other event of that subject. It must settle.
 */
export type EventHandler = (event: PublishedEvent) => Promise<void>;

/** Delivers events to their subscribers, each by a sweeper of its own, so that none waits for another. */
export class EventDelivery {
  readonly #sweepers: readonly PeriodicTask[];

  /** @param handlers by the names of their subscribers */
  constructor(
    { orm, log, signals }: { orm: Orm; log: Logger; signals: SignalSource },
    handlers: Readonly<Record<string, EventHandler>>,
  ) {
    this.#sweepers = Object.entries(handlers).map(([subscriber, handle]) =>
      openSweeper({
        orm,
        log,
        signals,
        subscriber,
        deliver: async (entry) => handle(await findEvent(orm, subscriber, entry)),
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

/** Finds the event of a row in the outbox. Events are kept forever, so a missing one is a fault that people must see. */
async function findEvent(orm: Orm, subscriber: string, { id, payload }: DueEntry): Promise<PublishedEvent> {
  const row = `row ${id} of the outbox`;
  if (payload.kind !== 'event') {
    const message = `a message to a workflow ("${payload.kind}")`;
    throw new Error(`${row} holds ${message}, but its subscriber "${subscriber}" receives events`);
  }
  const event = await readEvent(orm.em.fork(), payload.event_id);
  if (event) return event;
  const named = `the event ${payload.event_id} for the subscriber "${subscriber}"`;
  throw new Error(`${row} names ${named}, but there is no such event`);
}
