import { actionsOf } from '#api/pipeline/actions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import type { WebhookTarget } from '#domain/webhooks/store.ts';
import { auditRefusal } from './audit-authority.ts';

/** What a caller may do with a webhook. */
export const webhookActions = actionsOf<WebhookTarget>()({
  update: { operation: 'webhooks.update', findRefusal: refuseChange },
  test: { operation: 'webhooks.test' },
  rotate: { operation: 'webhooks.rotate', findRefusal: refuseChange },
  redeliver: {
    operation: 'webhooks.redeliver',
    findRefusal: (target, caller) =>
      refuseByAudit(target, caller) ??
      (target.webhook.isEnabled ? null : { message: 'the webhook is disabled: enable it first' }),
  },
  delete: { operation: 'webhooks.delete', findRefusal: refuseByAudit },
});

function refuseChange(target: WebhookTarget, caller: Principal) {
  return refuseByAudit(target, caller) ?? findArchivedRefusal(target);
}

function refuseByAudit(target: WebhookTarget, caller: Principal) {
  const message = auditRefusal(caller, target, target.webhook.events);
  return message === null ? null : { message };
}
