import type { Medium } from '#domain/messages/model.ts';
import { leaseMessages, removeOldMessages } from '#domain/messages/queue/due-store.ts';
import { deliverMessage, type MessageDeps } from '#domain/messages/sending/deliver.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const leaseMs = 500;
const retentionMs = 60 * 60_000;
/** So many messages a worker sends at a time, by whatever way they go: chats and webhooks of others that hang never keep mails waiting. */
const lanes: readonly { readonly media: readonly Medium[]; readonly most: number }[] = [
  { media: ['email'], most: 16 },
  { media: ['chat', 'webhook'], most: 64 },
];

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
  readonly #lanes: readonly Lane[];

  constructor(deps: MessageDeps) {
    this.#lanes = lanes.map(({ media, most }) => new Lane(deps, media, most));
  }

  start(): void {
    for (const lane of this.#lanes) lane.start();
  }

  /** Waits for the messages that are under way: 30 seconds at most for each. */
  async stop(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.stop()));
  }
}

/** Sends the messages of some media, a limited number at a time. */
class Lane {
  readonly #deps: MessageDeps;
  readonly #media: readonly Medium[];
  readonly #most: number;
  readonly #task: PeriodicTask;
  readonly #sending = new Set<Promise<void>>();

  constructor(deps: MessageDeps, media: readonly Medium[], most: number) {
    this.#deps = deps;
    this.#media = media;
    this.#most = most;
    const failure = 'could not look for messages that are due';
    this.#task = new PeriodicTask({ intervalMs: leaseMs, log: deps.log, failure, run: () => this.#sendSome() });
  }

  start(): void {
    this.#task.start('now');
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await Promise.all(this.#sending);
  }

  async #sendSome(): Promise<'again' | undefined> {
    const free = this.#most - this.#sending.size;
    const messages = free > 0 ? await leaseMessages(this.#deps.orm.em.fork(), free, this.#media) : [];
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
    return messages.length > 0 && this.#sending.size < this.#most ? 'again' : undefined;
  }
}
