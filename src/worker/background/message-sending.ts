import { leaseMessages, removeOldMessages } from '#domain/messages/queue/due-store.ts';
import { deliverMessage, type MessageDeps } from '#domain/messages/sending/deliver.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const leaseMs = 500;
const retentionMs = 60 * 60_000;
/** So many messages a worker sends at a time. */
const mostMessages = 16;

/** Deletes messages that ended long ago. */
export function openMessageRetention({ orm, log }: MessageDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs: retentionMs,
    log,
    failure: 'could not remove old messages',
    run: async () => ((await removeOldMessages(orm.em.fork())) ? 'again' : undefined),
  });
}

/** Sends messages that are due. Several workers share them by leases; what a killed worker had leased is sent again. */
export class MessageSender {
  readonly #deps: MessageDeps;
  readonly #task: PeriodicTask;
  readonly #sending = new Set<Promise<void>>();

  constructor(deps: MessageDeps) {
    this.#deps = deps;
    const failure = 'could not look for messages that are due';
    this.#task = new PeriodicTask({ intervalMs: leaseMs, log: deps.log, failure, run: () => this.#sendSome() });
  }

  start(): void {
    this.#task.start('now');
  }

  /** Waits for the messages that are under way: 30 seconds at most for each. */
  async stop(): Promise<void> {
    await this.#task.stop();
    await Promise.all(this.#sending);
  }

  async #sendSome(): Promise<'again' | undefined> {
    const free = mostMessages - this.#sending.size;
    const messages = free > 0 ? await leaseMessages(this.#deps.orm.em.fork(), free) : [];
    for (const message of messages) {
      const sending = deliverMessage(this.#deps, message)
        .catch((error: unknown) => {
          this.#deps.log.warn(
            { err: error, message_id: message.id },
            'could not note what became of a message; trying again',
          );
        })
        .finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
    return messages.length > 0 && this.#sending.size < mostMessages ? 'again' : undefined;
  }
}
