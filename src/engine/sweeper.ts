import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';
import type { OutboxMessage } from '#domain/shared/events/outbox.ts';
import { deliverMessage } from './deliver.ts';
import { PeriodicTask } from './periodic-task.ts';

const batchSize = 100;
const concurrency = 8;
const idleMs = 1_000;
/** 2⁵ seconds: half a minute. */
const longestBackoffExponent = 5;

/**
 * Delivers what the process that committed it did not: it died, or the engine was away. Any number of sweepers share the
 * work; a message goes out only when nothing older waits for the same target.
 */
export class Sweeper {
  readonly #client: Client;
  readonly #orm: Orm;
  readonly #installationId: string;
  readonly #log: Logger;
  readonly #task: PeriodicTask;

  constructor(deps: { client: Client; orm: Orm; installationId: string; log: Logger }) {
    this.#client = deps.client;
    this.#orm = deps.orm;
    this.#installationId = deps.installationId;
    this.#log = deps.log;
    const failure = 'could not sweep the outbox';
    this.#task = new PeriodicTask({ intervalMs: idleMs, log: deps.log, failure, run: () => this.#sweepOnce() });
  }

  start(): void {
    this.#task.start('now');
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  /** A full batch is followed by the next at once. */
  async #sweepOnce(): Promise<'again' | undefined> {
    const swept = await this.#orm.em.fork().transactional((em) => this.#sweep(em));
    return swept < batchSize ? undefined : 'again';
  }

  async #sweep(em: Em): Promise<number> {
    const messages = await em.execute<OutboxMessage[]>(
      `select o.id, o.target, o.payload from outbox o
        where o.due_at <= now() and not exists (select 1 from outbox older where older.target = o.target and older.id < o.id)
        order by o.id limit ? for update of o skip locked`,
      [batchSize],
    );
    const failures = await this.#deliverAll(messages);
    const delivered = messages.filter(({ id }) => !failures.has(id)).map(({ id }) => id);
    await em.execute(`delete from outbox where id = any(?::bigint[])`, [pgArray(delivered)]);
    for (const [id, reason] of failures) await postpone(em, id, reason);
    return messages.length;
  }

  /** Tells the engine several at a time; answers why it could not be told which. */
  async #deliverAll(messages: readonly OutboxMessage[]): Promise<Map<string, string>> {
    const failures = new Map<string, string>();
    const waiting = [...messages];
    const deliverSome = async () => {
      for (let message = waiting.shift(); message; message = waiting.shift()) {
        const reason = await this.#deliver(message);
        if (reason !== null) failures.set(message.id, reason);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, deliverSome));
    return failures;
  }

  async #deliver(message: OutboxMessage): Promise<string | null> {
    try {
      await deliverMessage(this.#client, this.#installationId, message);
      return null;
    } catch (error) {
      this.#log.warn(
        { err: error, outbox_id: message.id, target: message.target },
        'the engine could not be told; trying again',
      );
      return error instanceof Error ? error.message : String(error);
    }
  }
}

async function postpone(em: Em, id: string, reason: string): Promise<void> {
  await em.execute(
    `update outbox set attempts = attempts + 1, last_error = ?,
        due_at = now() + make_interval(secs => power(2, least(attempts, ?))) where id = ?`,
    [reason.slice(0, 500), longestBackoffExponent, id],
  );
}
