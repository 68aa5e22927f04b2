import { mayReadAuditOf } from '#domain/audit/scope.ts';
import type { OwnerIds } from '#domain/owners/owner.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden, Invalid } from '#domain/shared/errors.ts';
import { auditPatterns, auditStream, subscribesToAudit } from '#domain/webhooks/model.ts';

/** Why a principal may not create or change a webhook with these patterns. Null if it may, as far as the audit is concerned. */
export function auditRefusal(principal: Principal, owner: Ownership, patterns: readonly string[]): string | null {
  if (!subscribesToAudit(patterns) || mayReadAuditOf(principal, owner)) return null;
  return (
    `a webhook that hears the audit (${auditPatterns.join(', ')}) is for those who may read all of its owner's audit: ` +
    'those who manage the memberships of the organization or team with audit:read, and platform administrators'
  );
}

/**
 * Lets a principal send the audit of an owner somewhere, or change a webhook that does, only if it may read that audit. Call it in the
 * transaction that changes the webhook.
 * @throws Forbidden, or Invalid for a project's webhook, because no audit record names a project
 */
export function checkAuditPatterns(
  principal: Principal,
  owner: Ownership & Partial<Pick<OwnerIds, 'projectId'>>,
  patterns: readonly string[],
): void {
  const refusal = auditRefusal(principal, owner, patterns);
  if (refusal !== null) throw new Forbidden(refusal);
  if (!subscribesToAudit(patterns) || !owner.projectId) return;
  throw new Invalid(
    `events: records of the audit name no project, so a project's webhook cannot hear ${auditStream}: make one of its team`,
  );
}
