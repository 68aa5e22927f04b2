import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { MessageDelivery } from '#domain/shared/commands/transaction.ts';
import type { OutboxMessage } from '#domain/shared/events/outbox.ts';
import { removeEntries } from '#domain/shared/events/outbox-store.ts';
import type { SignalSource } from '#domain/shared/events/topics.ts';
import { timed } from '#domain/shared/tasks/spans.ts';
import { deliverMessage } from './deliver.ts';

const maxDeliveries = 16;
/** The number of commits in a row, each within `burstGapMs` of the one before, that make a burst. */
const burstLength = 16;
const burstGapMs = 50;
/** During a burst, delivery starts again once this many messages wait, or one has waited this long. */
const longBacklog = 1_000;
const longWaitMs = 2_000;
/** The usual upper limit of the time of one delivery, when many wait. */
const expectedDeliveryMs = 10;

/**
 * Limits how many deliveries run at the same time. A delivery to the engine costs several times as much as a commit, on the same machines.
 * So callers have priority: a burst of commits is answered without deliveries, and the messages are sent when the burst pauses, after two
 * seconds, or when a thousand wait.
 */
class DeliveryThrottle {
  #lastCommitAt = 0;
  #commitsInBurst = 0;

  noteCommit(): void {
    const now = Date.now();
    this.#commitsInBurst = now - this.#lastCommitAt < burstGapMs ? this.#commitsInBurst + 1 : 0;
    this.#lastCommitAt = now;
  }

  /**
   * How many deliveries may run now.
   * @param oldestAt when the oldest waiting message was committed, in milliseconds since the epoch
   */
  limit(waiting: number, oldestAt: number): number {
    const now = Date.now();
    const isBurst = this.#commitsInBurst >= burstLength && now - this.#lastCommitAt < burstGapMs;
    const isOverdue = waiting > longBacklog || now - oldestAt > longWaitMs;
    return isBurst && !isOverdue ? 0 : maxDeliveries;
  }

  /** How long to wait before asking for the limit again. */
  readonly recheckMs = burstGapMs / 5;

  /** How long the last of that number of waiting messages usually waits. */
  expectedWaitMs(waiting: number): number {
    return waiting * expectedDeliveryMs;
  }
}

/** Beyond this number, messages wait in the database for a sweeper, not in memory. */
const maxQueued = 10_000;
const clearBatchSize = 200;
const clearDelayMs = 10;

/** The messages of one commit. */
interface Batch {
  readonly messages: OutboxMessage[];
  readonly committedAt: number;
}

/**
 * Delivers the messages to workflows that this process has just committed, and removes their rows in batches. It gets only messages without
 * an older one that waits for the same target, so a target receives its messages in order. A message that it cannot deliver stays in the
 * outbox for a sweeper: nothing here needs to survive the process.
 */
export class Dispatcher implements MessageDelivery {
  readonly #client: Client;
  readonly #orm: Orm;
  readonly #installationId: string;
  readonly #log: Logger;
  readonly #signals: SignalSource;
  readonly #throttle = new DeliveryThrottle();
  readonly #queue: Batch[] = [];
  #pending = 0;
  #running = 0;
  #recheck: NodeJS.Timeout | undefined;
  #delivered: string[] = [];
  #clearing: Promise<void> | undefined;

  constructor(deps: { client: Client; orm: Orm; installationId: string; log: Logger; signals: SignalSource }) {
    this.#client = deps.client;
    this.#orm = deps.orm;
    this.#installationId = deps.installationId;
    this.#log = deps.log;
    this.#signals = deps.signals;
  }

  /** Accepts the messages of one commit, which are delivered one after another. Never waits. */
  readonly dispatch = (messages: OutboxMessage[]): void => {
    this.#throttle.noteCommit();
    if (this.#pending + messages.length > maxQueued) return;
    this.#queue.push({ messages, committedAt: Date.now() });
    this.#pending += messages.length;
    this.#startDeliveries();
  };

  readonly signal = (topics: readonly string[]): void => this.#signals.signal(topics);

  /** The number of messages that this process has yet to deliver. */
  get pending(): number {
    return this.#pending;
  }

  /** How long a message that is committed now will probably wait for its delivery here. */
  readonly expectedWaitMs = (): number => this.#throttle.expectedWaitMs(this.#pending);

  /** Waits until everything is delivered, and no longer than `withinMs`. A sweeper delivers the rest. */
  async drain(withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    while ((this.#running > 0 || this.#pending > 0 || this.#clearing) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #startDeliveries(): void {
    for (let [batch] = this.#queue; batch; [batch] = this.#queue) {
      if (this.#running >= this.#throttle.limit(this.#pending, batch.committedAt)) {
        this.#startLater();
        return;
      }
      this.#queue.shift();
      this.#start(batch.messages);
    }
  }

  #start(messages: OutboxMessage[]): void {
    this.#running += 1;
    void this.#deliverAll(messages).finally(() => {
      this.#running -= 1;
      this.#pending -= messages.length;
      this.#startDeliveries();
    });
  }

  #startLater(): void {
    this.#recheck ??= setTimeout(() => {
      this.#recheck = undefined;
      this.#startDeliveries();
    }, this.#throttle.recheckMs);
  }

  async #deliverAll(messages: OutboxMessage[]): Promise<void> {
    for (const message of messages) {
      try {
        await timed('deliver', {}, () => deliverMessage(this.#client, this.#installationId, message));
      } catch (error) {
        this.#log.warn(
          { err: error, outbox_id: message.id, target: message.target },
          'could not deliver a message to the engine; a sweeper will try again',
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
    await new Promise((resolve) => setTimeout(resolve, clearDelayMs));
    while (this.#delivered.length > 0) {
      const ids = this.#delivered.splice(0, clearBatchSize);
      try {
        await removeEntries(this.#orm.em.fork(), ids);
      } catch (error) {
        this.#log.warn(
          { err: error },
          'could not remove delivered messages from the outbox; a sweeper delivers them once more, which does no harm',
        );
      }
    }
  }
}
