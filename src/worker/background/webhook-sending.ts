import { readGates } from '#domain/settings/store.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { streamAudit } from '#domain/webhooks/deliveries/audit-stream.ts';
import { type DeliverDeps, deliverQueue } from '#domain/webhooks/deliveries/deliver-queue.ts';
import { fanOut } from '#domain/webhooks/deliveries/fan-out.ts';
import { leaseQueues } from '#domain/webhooks/deliveries/queue-store.ts';
import { dropOldDeliveries } from '#domain/webhooks/deliveries/retention.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const fanOutMs = 250;
const auditMs = 1_000;
const leaseMs = 100;
const retentionMs = 60 * 60_000;
/** So many webhooks a worker sends at a time. */
const mostQueues = 128;
/** Turning webhooks off stops the sending within this time. */
const gateMs = 1_000;

/** Makes deliveries of new events. One worker does it at a time. */
export function openWebhookFanOut({ orm, log }: DeliverDeps): PeriodicTask {
  const failure = 'could not make deliveries for webhooks';
  return new PeriodicTask({
    intervalMs: fanOutMs,
    log,
    failure,
    run: async () => ((await fanOut(orm)) ? 'again' : undefined),
  });
}

/** Makes deliveries of new audit records for the webhooks that hear the audit. One worker does it at a time. */
export function openAuditStream({ orm, log }: DeliverDeps): PeriodicTask {
  const failure = 'could not make deliveries of audit records for webhooks';
  return new PeriodicTask({
    intervalMs: auditMs,
    log,
    failure,
    run: async () => ((await streamAudit(orm)) === 'more' ? 'again' : undefined),
  });
}

/** Drops old deliveries by the month. */
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
 * Sends what is due. It leases queues while it has places for them, and sends each by itself: one that waits for its endpoint keeps its
 * own place and no other. Several workers share the queues by their leases. While webhooks are turned off, what is due waits.
 */
export class WebhookSender {
  readonly #deps: DeliverDeps;
  readonly #task: PeriodicTask;
  readonly #sending = new Set<Promise<void>>();
  #gate = { isClosed: false, readAt: Number.NEGATIVE_INFINITY };

  constructor(deps: DeliverDeps) {
    this.#deps = deps;
    const failure = 'could not look for deliveries of webhooks';
    this.#task = new PeriodicTask({ intervalMs: leaseMs, log: deps.log, failure, run: () => this.#leaseSome() });
  }

  start(): void {
    this.#task.start('now');
  }

  /** Waits for the requests that are under way: 15 seconds at most for each. */
  async stop(): Promise<void> {
    await this.#task.stop();
    await Promise.all(this.#sending);
  }

  async #leaseSome(): Promise<'again' | undefined> {
    const free = mostQueues - this.#sending.size;
    if (free <= 0 || (await this.#isClosed())) return undefined;
    const queues = await leaseQueues(this.#deps.orm.em.fork(), free);
    for (const queue of queues) {
      const sending = deliverQueue(this.#deps, queue)
        .catch((error: unknown) => {
          this.#deps.log.warn({ err: error, webhook_id: queue.webhookId }, 'could not send to a webhook; trying again');
        })
        .finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
    return undefined;
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
