import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { OutboxMessage } from '#domain/shared/events/outbox.ts';
import { deliverMessage } from './deliver.ts';
import { DeliveryThrottle } from './delivery-throttle.ts';

/** More than this waits in the database for the sweeper, not in memory. */
const maximumQueued = 10_000;
const clearBatch = 200;

/** The messages of one commit. */
interface Batch {
  readonly messages: OutboxMessage[];
  readonly committedAt: number;
}

/**
 * Delivers what this process has just committed, in order for each target, and clears the rows in batches.
 * What it cannot deliver stays in the outbox for the sweeper: nothing here needs to survive.
 */
export class Dispatcher {
  readonly #client: Client;
  readonly #orm: Orm;
  readonly #installationId: string;
  readonly #log: Logger;
  readonly #throttle = new DeliveryThrottle();
  readonly #queue: Batch[] = [];
  #queued = 0;
  #running = 0;
  #lookAgain: NodeJS.Timeout | undefined;
  #delivered: string[] = [];
  #clearing: Promise<void> | undefined;

  constructor(deps: { client: Client; orm: Orm; installationId: string; log: Logger }) {
    this.#client = deps.client;
    this.#orm = deps.orm;
    this.#installationId = deps.installationId;
    this.#log = deps.log;
  }

  /** Takes the messages of one commit; they are delivered one after another. Never waits. */
  readonly deliver = (messages: OutboxMessage[]): void => {
    this.#throttle.noteCommit();
    if (this.#queued + messages.length > maximumQueued) return;
    this.#queue.push({ messages, committedAt: Date.now() });
    this.#queued += messages.length;
    this.#work();
  };

  /** Messages that this process has yet to deliver. */
  get pending(): number {
    return this.#queued;
  }

  /** Milliseconds that a message committed now may have to wait for its turn here. */
  readonly foresee = (): number => this.#throttle.expectedWaitMs(this.#queued);

  /** Waits for what is under way, and no longer than `withinMs`; the rest is the sweeper's. */
  async drain(withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    while ((this.#running > 0 || this.#queued > 0 || this.#clearing) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #work(): void {
    for (let [batch] = this.#queue; batch; [batch] = this.#queue) {
      if (this.#running >= this.#throttle.limit(this.#queued, batch.committedAt)) {
        this.#workLater();
        return;
      }
      this.#queue.shift();
      this.#begin(batch.messages);
    }
  }

  #begin(messages: OutboxMessage[]): void {
    this.#running += 1;
    void this.#deliverAll(messages).finally(() => {
      this.#running -= 1;
      this.#queued -= messages.length;
      this.#work();
    });
  }

  #workLater(): void {
    this.#lookAgain ??= setTimeout(() => {
      this.#lookAgain = undefined;
      this.#work();
    }, this.#throttle.recheckMs);
  }

  async #deliverAll(messages: OutboxMessage[]): Promise<void> {
    for (const message of messages) {
      try {
        await deliverMessage(this.#client, this.#installationId, message);
      } catch (error) {
        this.#log.warn(
          { err: error, outbox_id: message.id, target: message.target },
          'the engine could not be told; the sweeper will',
        );
        return;
      }
      this.#delivered.push(message.id);
      this.#clear();
    }
  }

  #clear(): void {
    this.#clearing ??= this.#clearDelivered().finally(() => {
      this.#clearing = undefined;
    });
  }

  async #clearDelivered(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 10));
    while (this.#delivered.length > 0) {
      const ids = this.#delivered.splice(0, clearBatch);
      try {
        await this.#orm.em.fork().execute(`delete from outbox where id = any(?::bigint[])`, [`{${ids.join(',')}}`]);
      } catch (error) {
        this.#log.warn(
          { err: error },
          'delivered messages could not be cleared; the sweeper delivers them again, harmlessly',
        );
      }
    }
  }
}
