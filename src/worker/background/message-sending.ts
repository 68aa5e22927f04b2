import { deliverMessage, type MessageDeps } from '#domain/message-sending/deliver.ts';
import { type DueMessage, leaseMessages } from '#domain/messages/queue/lease-store.ts';
import { type MediumGroup, type MessageLane, mediumGroups } from '#domain/messages/queue/medium-groups.ts';
import { removeOldMessages } from '#domain/messages/queue/settle-store.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';
import { type LaneSize, Places } from './sending/places.ts';

const leaseMs = 500;
const retentionMs = 60 * 60_000;

/** The limits on the messages of a group that a worker sends at a time. */
interface GroupPlaces {
  readonly group: MediumGroup;
  readonly lanes: Readonly<Record<MessageLane, LaneSize>>;
  /** How many more messages may wait for an address that does not respond. */
  readonly maxWaiting: number;
}

/** All mails go to one server, which should not get more connections if it is slow. */
const groups: readonly GroupPlaces[] = [
  {
    group: mediumGroups.mails,
    lanes: { healthy: { places: 16, waitsMs: null }, failing: { places: 4, waitsMs: null } },
    maxWaiting: 0,
  },
  {
    group: mediumGroups.posts,
    lanes: { healthy: { places: 64, waitsMs: 1_000 }, failing: { places: 16, waitsMs: null } },
    maxWaiting: 192,
  },
];

/** Deletes messages that were sent or given up long ago. */
export function openMessageRetention({ orm, log }: MessageDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs: retentionMs,
    log,
    failure: 'could not remove old messages',
    run: async () => ((await removeOldMessages(orm.em.fork())) ? 'again' : undefined),
  });
}

/** Sends messages that are due. Several workers share them by leases. Messages that a killed worker had leased are sent again. */
export class MessageSender {
  readonly #senders: readonly GroupSender[];

  constructor(deps: MessageDeps) {
    this.#senders = groups.map((places) => new GroupSender(deps, places));
  }

  start(): void {
    for (const sender of this.#senders) sender.start();
  }

  /** Waits for the messages that are being sent: at most 30 seconds for each. */
  async stop(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.stop()));
  }
}

/** Sends the messages of a group, a limited number at a time. */
class GroupSender {
  readonly #deps: MessageDeps;
  readonly #group: MediumGroup;
  readonly #task: PeriodicTask;
  readonly #places: Places<MessageLane>;

  constructor(deps: MessageDeps, { group, lanes, maxWaiting }: GroupPlaces) {
    this.#deps = deps;
    this.#group = group;
    this.#places = new Places(lanes, maxWaiting);
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
    const free = { healthy: this.#places.free('healthy'), failing: this.#places.free('failing') };
    if (free.healthy + free.failing === 0) return undefined;
    const messages = await leaseMessages(this.#deps.orm.em.fork(), free, this.#group);
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
