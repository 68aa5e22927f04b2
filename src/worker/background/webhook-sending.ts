import { readGates } from '#domain/settings/store.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { streamAudit } from '#domain/webhooks/deliveries/audit-stream.ts';
import { disableOverfull } from '#domain/webhooks/deliveries/backlog.ts';
import { type DeliverDeps, deliverQueue } from '#domain/webhooks/deliveries/deliver-queue.ts';
import { fanOut } from '#domain/webhooks/deliveries/fan-out.ts';
import { type Lane, type LeasedQueue, leaseQueues } from '#domain/webhooks/deliveries/lease-store.ts';
import { dropOldDeliveries } from '#domain/webhooks/deliveries/retention.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';
import { type LaneSize, Places } from './sending/places.ts';

const fanOutMs = 250;
const auditMs = 1_000;
const leaseMs = 100;
const backlogMs = 60_000;
const retentionMs = 60 * 60_000;
const waitsMs = 1_000;
/**
 * How many webhooks a worker sends at a time. Slots for webhooks that failed lately are few, and stay occupied until the endpoints respond.
 */
const places: Readonly<Record<Lane, LaneSize>> = {
  proven: { places: 96, waitsMs },
  new: { places: 64, waitsMs },
  failing: { places: 32, waitsMs: null },
};
/** How many more webhooks may wait for an endpoint that does not respond. */
const maxWaiting = 256;
/** How soon turning webhooks off stops the sending. */
const gateMs = 1_000;

/** Creates deliveries of new events. One worker does it at a time. */
export function openWebhookFanOut({ orm, log }: DeliverDeps): PeriodicTask {
  const failure = 'could not make deliveries for webhooks';
  return new PeriodicTask({
    intervalMs: fanOutMs,
    log,
    failure,
    run: async () => ((await fanOut(orm)) ? 'again' : undefined),
  });
}

/** Creates deliveries of new audit records for webhooks that receive the audit. One worker does it at a time. */
export function openAuditStream({ orm, log }: DeliverDeps): PeriodicTask {
  const failure = 'could not make deliveries of audit records for webhooks';
  return new PeriodicTask({
    intervalMs: auditMs,
    log,
    failure,
    run: async () => ((await streamAudit(orm)) === 'more' ? 'again' : undefined),
  });
}

/** Disables webhooks with too many waiting deliveries. Several workers at once do no harm. */
export function openBacklogLimit(deps: DeliverDeps): PeriodicTask {
  const failure = 'could not look for webhooks for which too much waits';
  return new PeriodicTask({
    intervalMs: backlogMs,
    log: deps.log,
    failure,
    run: async () => {
      const webhooks = await disableOverfull(deps, deps.orm.em.fork());
      if (webhooks.length > 0) deps.log.warn({ webhooks }, 'disabled webhooks for which too much waits');
    },
  });
}

/** Removes old deliveries, one month at a time. */
export function openDeliveryRetention({ orm, log }: DeliverDeps): PeriodicTask {
  const failure = 'could not remove old deliveries of webhooks';
  return new PeriodicTask({
    intervalMs: retentionMs,
    log,
    failure,
    run: async () => {
      const months = await dropOldDeliveries(orm.em.fork());
      if (months.length > 0) log.info({ months }, 'removed old deliveries of webhooks');
    },
  });
}

/**
 * Sends deliveries that are due. It leases queues while it has free slots, and sends each queue independently: one that waits for its
 * endpoint soon frees its slot. Several workers share the queues by leases. While webhooks are turned off, deliveries wait.
 */
export class WebhookSender {
  readonly #deps: DeliverDeps;
  readonly #task: PeriodicTask;
  readonly #places = new Places(places, maxWaiting);
  #gate = { isClosed: false, readAt: Number.NEGATIVE_INFINITY };

  constructor(deps: DeliverDeps) {
    this.#deps = deps;
    const failure = 'could not look for deliveries of webhooks';
    this.#task = new PeriodicTask({ intervalMs: leaseMs, log: deps.log, failure, run: () => this.#leaseSome() });
  }

  start(): void {
    this.#task.start('now');
  }

  /** Waits for the requests in progress: at most 15 seconds for each. */
  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#places.end();
  }

  async #leaseSome(): Promise<void> {
    const free = {
      proven: this.#places.free('proven'),
      new: this.#places.free('new'),
      failing: this.#places.free('failing'),
    };
    if (free.proven + free.new + free.failing === 0 || (await this.#isClosed())) return;
    const queues = await leaseQueues(this.#deps.orm.em.fork(), free);
    for (const queue of queues) this.#places.begin(queue.lane, (onProgress) => this.#send(queue, onProgress));
  }

  async #send(queue: LeasedQueue, onProgress: () => void): Promise<void> {
    try {
      await deliverQueue(this.#deps, queue, onProgress);
    } catch (error) {
      this.#deps.log.warn({ err: error, webhook_id: queue.webhookId }, 'could not send to a webhook; trying again');
    }
  }

  async #isClosed(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#gate.readAt > gateMs) {
      const closed = await readGates(this.#deps.orm.em.fork());
      this.#gate = { isClosed: describeClosed('webhooks', closed) !== null, readAt: now };
    }
    return this.#gate.isClosed;
  }
}
