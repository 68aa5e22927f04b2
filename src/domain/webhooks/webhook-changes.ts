import { db } from '#domain/db.ts';
import { refuseBeyondLimit } from '#domain/owners/limit-store.ts';
import type { RowOwner } from '#domain/owners/owner.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { type Difference, findDifference, refuseStale } from '#domain/shared/revisions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { beginAnew, noteEnabled } from './deliveries/queue-store.ts';
import { Webhook, WebhookQueue } from './entity.ts';
import { webhookSecrets } from './secrets.ts';
import type { WebhookTarget } from './store.ts';

/** How many webhooks an owner may have. There is a limit because each event is sent to all that subscribe to it. */
export const maxWebhooks = 200;

export interface NewWebhook {
  readonly name: string;
  readonly url: string;
  readonly events: string[];
  readonly isEnabled: boolean;
}

/**
 * Creates a webhook of an owner, whose row the caller has locked. The secret is returned only here and stored encrypted.
 * @throws Conflict for an archived owner, or one that has as many webhooks as it may have
 */
export async function createWebhook(tx: Transaction, keyRing: KeyRing, owner: RowOwner, wanted: NewWebhook) {
  refuseArchived(owner);
  await refuseBeyondLimit(tx.em, owner, { table: 'webhooks', name: 'webhooks', max: maxWebhooks });
  const id = newId();
  const { secret, sealed: sealedSecret } = webhookSecrets.make(keyRing, id);
  const webhook = tx.em.create(Webhook, { ...wanted, ...owner.columns, id, sealedSecret });
  await tx.em.persist(webhook).flush();
  await tx.em.persist(tx.em.create(WebhookQueue, { webhookId: id })).flush();
  return { webhook, secret };
}

/**
 * Changes the fields of a webhook that `wanted` contains. The caller has locked the row. If this enables the webhook, the pending
 * deliveries are sent.
 */
export async function updateWebhook(
  tx: Transaction,
  target: WebhookTarget,
  wanted: { [Field in keyof NewWebhook]?: NewWebhook[Field] | undefined },
  expectedRevision: number | undefined,
): Promise<Difference<NewWebhook>> {
  const { webhook } = target;
  refuseArchived(target);
  refuseStale(webhook, expectedRevision);
  const { name, url, events, isEnabled } = webhook;
  const difference = findDifference<NewWebhook>({ name, url, events, isEnabled }, wanted);
  if (difference.isEmpty) return difference;
  Object.assign(webhook, difference.after);
  if (wanted.isEnabled) webhook.disabledReason = null;
  webhook.revision += 1;
  await tx.em.flush();
  if (difference.after.isEnabled) await noteEnabled(tx.em, webhook.id);
  if (wanted.isEnabled || difference.after.url !== undefined) await beginAnew(tx.em, webhook.id);
  return difference;
}

/** Replaces the secret of a webhook. Requests are also signed with the old one for a day. */
export async function rotateSecret(
  tx: Transaction,
  keyRing: KeyRing,
  target: WebhookTarget,
  expectedRevision: number | undefined,
): Promise<string> {
  const { webhook } = target;
  refuseArchived(target);
  refuseStale(webhook, expectedRevision);
  const secret = webhookSecrets.renew(keyRing, webhook);
  webhook.revision += 1;
  await tx.em.flush();
  return secret;
}

/** Deletes a webhook with its deliveries. The caller has locked the row. */
export async function deleteWebhook(
  tx: Transaction,
  webhook: Webhook,
  expectedRevision: number | undefined,
): Promise<void> {
  refuseStale(webhook, expectedRevision);
  await db(tx.em).deleteFrom('webhook_deliveries').where('webhookId', '=', webhook.id).execute();
  await tx.em.remove(webhook).flush();
}
