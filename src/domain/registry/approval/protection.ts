import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { TemplateApproval } from '#domain/shared/vocabulary/approval.ts';
import { type ApprovalPolicy, isWeakerApproval } from '#domain/shared/vocabulary/approval.ts';
import { requireMayWeaken } from '#domain/tenancy/policy.ts';
import type { NewVersion } from '../model.ts';
import type { TemplateSpec } from '../spec.ts';
import { listVersionApprovals, type TemplateTarget } from '../store.ts';
import { newestFirst } from '../versions.ts';

/**
 * Checks a version that demands less approval than the highest version of its template: the publisher needs the right to weaken a policy,
 * and an event is published. Yanked versions count too, so that yanking the strict version first does not evade the rule. The caller has
 * locked the template.
 * @throws Forbidden if the publisher may not weaken policies
 */
export async function weakenApproval(
  tx: Transaction,
  target: TemplateTarget,
  { version, spec }: Pick<NewVersion, 'version' | 'spec'>,
  publisher: Principal,
): Promise<void> {
  const weakened = await refuseWeaker(tx.em, target, spec, publisher);
  if (!weakened) return;
  const { teamId, organizationId } = target;
  const owners = { teamId, organizationId };
  const data = { version, ...weakened };
  tx.publish({ type: 'template.approval_weakened', subjectId: target.template.id, owners, data });
}

/** `weakenApproval` without the event. Returns the weakened policies; undefined if nothing is weakened. @throws Forbidden */
export async function refuseWeaker(
  em: Em,
  target: TemplateTarget,
  { approval }: Pick<TemplateSpec, 'approval'>,
  publisher: Principal,
): Promise<{ before: TemplateApproval | null; after: TemplateApproval | null } | undefined> {
  const [highest] = newestFirst(await listVersionApprovals(em, target.template.id));
  const [before, after] = [highest?.approval ?? null, approval ?? null];
  if (!highest || !isWeakerApproval(toPolicy(after), toPolicy(before))) return undefined;
  requireMayWeaken(publisher, target, `spec.approval: the version demands less approval than ${highest.version}`);
  return { before, after };
}

function toPolicy(approval: TemplateApproval | null): ApprovalPolicy {
  return { required: 0, when: 'never', ...approval, allow_self: false };
}
