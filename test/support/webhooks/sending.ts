import pino from 'pino';
import { type DeliverDeps, deliverQueue } from '#domain/webhooks/deliveries/deliver-queue.ts';
import { fanOut, streamAudit } from '#domain/webhooks/deliveries/fan-out.ts';
import { leaseQueues } from '#domain/webhooks/deliveries/lease-store.ts';
import type { TestApi } from '#test/support/api/in-process-api.ts';

/** What the workers do for webhooks, when a test wants it. */
export interface Sending {
  /** Makes the deliveries of all events and audit records, and sends what is due until there is nothing more to send now. */
  work(): Promise<void>;
  /** Makes the deliveries of all events and audit records. */
  fanOut(): Promise<void>;
  /** Makes every delivery of a webhook that waits due at once. */
  retryNow(webhookId: string): Promise<void>;
}

/** Webhooks hear what happens from now on. */
export async function startSending(api: TestApi): Promise<Sending> {
  const { orm, transactions, installation, keyRing, outboundHttp: http } = api.services;
  const log = pino({ level: 'silent' });
  const deps: DeliverDeps = { orm, transactions, keyRing, http, log, bindingKey: installation.bindingKey };
  const fanOutAll = async () => {
    while (await fanOut(orm));
    // Nothing else is under way in a test, so no record can come before one that was read.
    while ((await streamAudit(orm, 0)) === 'more');
  };
  await fanOutAll();
  return {
    work: async () => {
      await fanOutAll();
      for (;;) {
        const queues = await leaseQueues(orm.em.fork(), { proven: 100, new: 100, failing: 100 });
        if (queues.length === 0) return;
        await Promise.all(queues.map((queue) => deliverQueue(deps, queue)));
      }
    },
    fanOut: fanOutAll,
    retryNow: async (webhookId) => {
      await api.rows(
        `with due as (update webhook_deliveries set due_at = now() where webhook_id = ? returning webhook_id)
         update webhook_queues set next_at = now(), quiet_until = null where webhook_id in (select webhook_id from due)`,
        [webhookId],
      );
    },
  };
}
