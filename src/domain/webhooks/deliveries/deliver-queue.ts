import type { Orm } from '#database/database.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { settlementOf } from '#domain/shared/sending/settlement.ts';
import { disableWebhook } from '../disabling.ts';
import type { Webhook } from '../entity.ts';
import { type DisabledReason, failingLimitMs, pauseAfter } from '../model.ts';
import { payloadOf } from '../payload.ts';
import { findWebhook } from '../store.ts';
import { type DueDelivery, findDue, settleDelivery } from './due-store.ts';
import type { LeasedQueue } from './lease-store.ts';
import { noteTry, releaseQueue } from './queue-store.ts';
import { type AttemptDeps, type Outcome, tryToSend } from './send.ts';

export interface DeliverDeps extends SystemCommandDeps, AttemptDeps {
  readonly orm: Orm;
}

/** How many requests an endpoint gets at the same time, and how many during one lease. */
const concurrency = 4;
const maxPerLease = 40;
/** How long after the start of a lease a request may begin, so that it ends before the lease does. */
const sendingMs = 30_000;

/**
 * Sends the due deliveries of one webhook, and ends the lease. A failing endpoint gets one request at a time, and its next failure ends the
 * lease. So an endpoint that hangs occupies one place, and no other endpoint waits for it.
 * @param onAnswer is called after each request
 * @throws the error of the database when the result of a request could not be recorded; it throws after all requests have ended
 */
export async function deliverQueue(
  deps: DeliverDeps,
  { webhookId, lane }: Pick<LeasedQueue, 'webhookId' | 'lane'>,
  onAnswer: () => void = () => undefined,
): Promise<void> {
  const em = deps.orm.em.fork();
  const target = await findWebhook(em, webhookId);
  if (target?.webhook.isEnabled)
    await sendDue(deps, target.webhook, { senders: lane === 'failing' ? 1 : concurrency, onAnswer });
  await releaseQueue(deps.orm.em.fork(), webhookId);
}

interface Sending {
  readonly senders: number;
  readonly onAnswer: () => void;
}

/** Sends the due deliveries until one fails or the lease may end. */
async function sendDue(deps: DeliverDeps, webhook: Webhook, { senders, onAnswer }: Sending): Promise<void> {
  const lastStart = Date.now() + sendingMs;
  const waiting = await findDue(deps.orm.em.fork(), webhook.id, maxPerLease);
  let hasFailed = false;
  const sendNext = async () => {
    for (let due = waiting.shift(); due && !hasFailed && Date.now() < lastStart; due = waiting.shift()) {
      // The result of a delivery is unknown until it is recorded, so an error of the database stops the other senders, too.
      const isDelivered = await deliverOne(deps, webhook, due).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
      onAnswer();
      hasFailed ||= !isDelivered;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: senders }, sendNext));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Sends one message and records the result. Returns whether the endpoint may get the next one. */
async function deliverOne(deps: DeliverDeps, webhook: Webhook, due: DueDelivery): Promise<boolean> {
  const em = deps.orm.em.fork();
  const { content, messageId } = due;
  if (content === null) {
    await settleDelivery(em, due, { status: 'withheld', problem: due.withheldBecause }, null);
    return true;
  }
  const outcome = await tryToSend(deps, webhook, () => ({ id: messageId, body: payloadOf(content) }));
  const isDelivered = outcome.problem === null;
  const pauseMs = outcome.status === 410 ? null : pauseAfter(due.attempts - due.triesByHand + 1);
  await settleDelivery(em, due, settlementOf('delivered', outcome.problem, pauseMs), outcome);
  const failingSince = await noteTry(em, webhook.id, outcome.problem);
  const reason = whyDisabled(outcome, failingSince);
  if (reason !== null) await disableWebhook(deps, webhook.id, reason);
  return isDelivered;
}

function whyDisabled({ status, problem }: Outcome, failingSince: string | null): DisabledReason | null {
  if (problem === null) return null;
  if (status === 410) return 'gone';
  const isLong = failingSince !== null && Date.now() - Date.parse(failingSince) > failingLimitMs;
  return isLong ? 'failing' : null;
}
