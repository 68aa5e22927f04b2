import { deliverMessage, type MessageDeps } from '#domain/message-sending/deliver.ts';
import type { Medium } from '#domain/messages/model.ts';
import { type DueMessage, leaseMessages, type MessageLane } from '#domain/messages/queue/lease-store.ts';
import { removeOldMessages } from '#domain/messages/queue/settle-store.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';
import { type LaneSize, Places } from './sending/places.ts';

const leaseMs = 500;
const retentionMs = 60 * 60_000;

/** How many messages a worker sends at a time by some media, and how many of one owner. */
interface Way {
  readonly media: readonly Medium[];
  readonly lanes: Readonly<Record<MessageLane, LaneSize & { readonly share: number }>>;
  /** So many beside them may wait for an address that hangs. */
  readonly mostWaiting: number;
}

/** Chats and webhooks of others that hang never keep mails waiting. Mails all go to one server, which should not get more connections if it is slow. */
const ways: readonly Way[] = [
  {
    media: ['email'],
    lanes: { healthy: { places: 16, share: 8, waitsMs: null }, failing: { places: 4, share: 2, waitsMs: null } },
    mostWaiting: 0,
  },
  {
    media: ['chat', 'webhook'],
    lanes: { healthy: { places: 64, share: 32, waitsMs: 1_000 }, failing: { places: 16, share: 4, waitsMs: null } },
    mostWaiting: 192,
  },
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
  readonly #senders: readonly WaySender[];

  constructor(deps: MessageDeps) {
    this.#senders = ways.map((way) => new WaySender(deps, way));
  }

  start(): void {
    for (const sender of this.#senders) sender.start();
  }

  /** Waits for the messages that are under way: 30 seconds at most for each. */
  async stop(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.stop()));
  }
}

/** Sends the messages of some media, a limited number at a time. */
class WaySender {
  readonly #deps: MessageDeps;
  readonly #way: Way;
  readonly #task: PeriodicTask;
  readonly #places: Places<MessageLane>;

  constructor(deps: MessageDeps, way: Way) {
    this.#deps = deps;
    this.#way = way;
    this.#places = new Places(way.lanes, way.mostWaiting);
    const failure = 'could not look for messages that are due';
    this.#task = new PeriodicTask({ intervalMs: leaseMs, log: deps.log, failure, run: () => this.#sendSome() });
  }

  start(): void {
    this.#task.start('now');
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#places.end();
  }

  async #sendSome(): Promise<'again' | undefined> {
    const { lanes, media } = this.#way;
    const healthy = { ...lanes.healthy, places: this.#places.free('healthy') };
    const failing = { ...lanes.failing, places: this.#places.free('failing') };
    if (healthy.places + failing.places === 0) return undefined;
    const messages = await leaseMessages(this.#deps.orm.em.fork(), { healthy, failing }, media);
    for (const message of messages)
      this.#places.begin(message.isFailing ? 'failing' : 'healthy', () => this.#send(message));
    return messages.length > 0 ? 'again' : undefined;
  }

  async #send(message: DueMessage): Promise<void> {
    try {
      await deliverMessage(this.#deps, message);
    } catch (error) {
      const text = 'could not note what became of a message; trying again';
      this.#deps.log.warn({ err: error, message_id: message.id }, text);
    }
  }
}
