import type { Orm } from '#database/database.ts';
import { deliverMessage, type MessageDeps } from '#domain/message-sending/deliver.ts';
import { type DueMessage, leaseMessages, mediumGroups } from '#domain/messages/queue/lease-store.ts';
import { readGates } from '#domain/settings/store.ts';
import { type SignalSource, sendingTopics } from '#domain/shared/events/topics.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { type DeliverDeps, deliverQueue } from '#domain/webhooks/deliveries/deliver-queue.ts';
import { type LeasedQueue, leaseQueues } from '#domain/webhooks/deliveries/lease-store.ts';
import { Sender, type SenderOptions } from './sender.ts';

const waitsMs = 1_000;

/** What tells a sender that something is due. */
interface SenderDeps {
  readonly signals: SignalSource;
}

/**
 * Sends the deliveries of webhooks that are due. Places for webhooks that failed lately are few, and stay occupied until the endpoints
 * respond. While webhooks are turned off, deliveries wait. Stopping takes at most 15 seconds.
 */
export function openWebhookSender(deps: DeliverDeps & SenderDeps): Sender<LeasedQueue> {
  const { orm, log, signals } = deps;
  const isClosed = createGate(orm);
  return new Sender({
    log,
    lanes: {
      proven: { places: 96, waitsMs },
      new: { places: 64, waitsMs },
      failing: { places: 32, waitsMs: null },
    },
    maxWaiting: 256,
    signals,
    topic: sendingTopics.webhooks,
    lease: async (free) => ((await isClosed()) ? [] : leaseQueues(orm.em.fork(), free)),
    send: (queue, onProgress) => deliverQueue(deps, queue, onProgress),
    failures: { lease: 'could not look for deliveries of webhooks', send: 'could not send to a webhook' },
    idsOf: ({ webhookId }) => ({ webhook_id: webhookId }),
  });
}

/** How soon turning webhooks off stops the sending. */
const gateMs = 1_000;

/** Whether webhooks are turned off. */
function createGate(orm: Orm): () => Promise<boolean> {
  let gate = { isClosed: false, readAt: Number.NEGATIVE_INFINITY };
  return async () => {
    const now = performance.now();
    if (now - gate.readAt > gateMs) {
      const closed = await readGates(orm.em.fork());
      gate = { isClosed: describeClosed('webhooks', closed) !== null, readAt: now };
    }
    return gate.isClosed;
  };
}

/** The places of a group of messages. */
type GroupPlaces = Pick<SenderOptions<DueMessage>, 'lanes' | 'maxWaiting'>;

/** All mails go to one server, which should not get more connections if it is slow. */
const groupPlaces: Readonly<Record<keyof typeof mediumGroups, GroupPlaces>> = {
  mails: { lanes: { healthy: { places: 16, waitsMs: null }, failing: { places: 4, waitsMs: null } }, maxWaiting: 0 },
  posts: { lanes: { healthy: { places: 64, waitsMs }, failing: { places: 16, waitsMs: null } }, maxWaiting: 192 },
};

/** Sends the messages of a group that are due. Stopping takes at most 30 seconds. */
export function openMessageSender(
  deps: MessageDeps & SenderDeps,
  group: keyof typeof mediumGroups,
): Sender<DueMessage> {
  const { orm, log, signals } = deps;
  return new Sender({
    log,
    ...groupPlaces[group],
    signals,
    topic: sendingTopics.messages,
    lease: (free) => leaseMessages(orm.em.fork(), free, mediumGroups[group]),
    send: (message) => deliverMessage(deps, message),
    failures: {
      lease: 'could not look for messages that are due',
      send: 'could not note what became of a message',
    },
    idsOf: ({ id }) => ({ message_id: id }),
  });
}
