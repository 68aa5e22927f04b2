import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { Webhook } from '../entity.ts';
import { type DisabledReason, failingLimitMs, pauseAfter } from '../model.ts';
import { payloadOf } from '../payload.ts';
import { openSecret } from '../secrets.ts';
import { findWebhook } from '../store.ts';
import { type DueDelivery, findDue, settleDelivery } from './due-store.ts';
import { type LeasedQueue, noteTry, releaseQueue } from './queue-store.ts';
import { type Endpoint, type Outcome, sendMessage } from './send.ts';

export interface DeliverDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly keyRing: KeyRing;
  readonly http: OutboundHttp;
}

/** How many requests an endpoint gets at a time, and how many under one lease. */
const concurrency = 4;
const mostPerLease = 40;
/** No request starts later under a lease, so that it ends before the lease does. */
const sendingMs = 30_000;
/** An endpoint that took nothing under a lease is left alone for so long. */
const pauseAfterFailureMs = 1_000;

/**
 * Sends what is due of one webhook, and gives the lease back. An endpoint that fails gets one request at a time, and the lease ends
 * with its next failure: so one that hangs holds one place, and no other waits for it.
 */
export async function deliverQueue(deps: DeliverDeps, { webhookId, isFailing }: LeasedQueue): Promise<void> {
  const em = deps.orm.em.fork();
  const target = await findWebhook(em, webhookId);
  const lastStart = Date.now() + sendingMs;
  let hasFailed = false;
  if (target?.webhook.isEnabled) {
    const endpoint = endpointOf(deps.keyRing, target.webhook);
    const waiting = await findDue(em, webhookId, mostPerLease);
    const sendNext = async () => {
      for (let due = waiting.shift(); due && !hasFailed && Date.now() < lastStart; due = waiting.shift()) {
        const isDelivered = await deliverOne(deps, webhookId, endpoint, due);
        hasFailed ||= !isDelivered;
      }
    };
    await Promise.all(Array.from({ length: isFailing ? 1 : concurrency }, sendNext));
  }
  await releaseQueue(deps.orm.em.fork(), webhookId, hasFailed ? pauseAfterFailureMs : 0);
}

/** The address of a webhook, and the secrets that sign its messages now. */
export function endpointOf(keyRing: KeyRing, webhook: Webhook): Endpoint {
  const { id, url, sealedSecret, sealedPreviousSecret: previous, previousUntil } = webhook;
  const isValid = previous !== null && previous !== undefined && previousUntil && previousUntil.getTime() > Date.now();
  const sealed = isValid ? [sealedSecret, previous] : [sealedSecret];
  return { url, secrets: sealed.map((each) => openSecret(keyRing, id, each)) };
}

async function deliverOne(
  deps: DeliverDeps,
  webhookId: string,
  endpoint: Endpoint,
  due: DueDelivery,
): Promise<boolean> {
  const message = { id: due.messageId, body: payloadOf(due.event) };
  const outcome = await sendMessage(deps.http, endpoint, message);
  const isDelivered = outcome.problem === null;
  const pauseMs = isDelivered || outcome.status === 410 ? null : pauseAfter(due.attempts + 1);
  const em = deps.orm.em.fork();
  await settleDelivery(em, due, { outcome, pauseMs });
  const failingSince = await noteTry(em, webhookId, isDelivered);
  const reason = whyDisabled(outcome, failingSince);
  if (reason !== null) await disableWebhook(deps, webhookId, reason);
  return isDelivered;
}

function whyDisabled({ status, problem }: Outcome, failingSince: string | null): DisabledReason | null {
  if (problem === null) return null;
  if (status === 410) return 'gone';
  const isLong = failingSince !== null && Date.now() - Date.parse(failingSince) > failingLimitMs;
  return isLong ? 'failing' : null;
}

/** Disables a webhook, which its audit record and its event tell. What waits is sent once somebody enables it again. */
export async function disableWebhook(deps: SystemCommandDeps, id: string, reason: DisabledReason): Promise<void> {
  const command = { action: 'webhook.disabled', target: { id }, cause: null } as const;
  await runSystemCommand(deps, command, {
    find: ({ em }) => findWebhook(em, id, true),
    act: async (tx, _caller, target) => {
      if (!target?.webhook.isEnabled) throw new NothingToDo();
      const { webhook } = target;
      Object.assign(webhook, { isEnabled: false, disabledReason: reason, revision: webhook.revision + 1 });
      await tx.em.flush();
      return { id, before: { enabled: true }, after: { enabled: false, reason }, revision: webhook.revision };
    },
  });
}
