import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { requireMayWeaken } from '#domain/tenancy/policy.ts';
import type { NewVersion } from '../model.ts';
import type { TemplateApproval } from '../spec.ts';
import { listVersionApprovals, type TemplateTarget } from '../store.ts';
import { newestFirst } from '../versions.ts';
import { type ApprovalPolicy, isWeakerApproval } from './approval-policy.ts';

/**
 * A version that demands less approval than the highest version of its template needs the right to weaken a policy, and is an
 * event. Yanked versions count, so that yanking the strict version first opens no way around the rule. The caller has locked the
 * template.
 * @throws Forbidden if the publisher may not weaken policies
 */
export async function weakenApproval(
  tx: Transaction,
  target: TemplateTarget,
  { version, spec }: NewVersion,
  publisher: Principal,
): Promise<void> {
  const { id } = target.template;
  const [highest] = newestFirst(await listVersionApprovals(tx.em, id));
  const [before, after] = [highest?.approval ?? null, spec.approval ?? null];
  if (!highest || !isWeakerApproval(toPolicy(after), toPolicy(before))) return;
  requireMayWeaken(publisher, target, `spec.approval: the version demands less approval than ${highest.version}`);
  const { teamId, organizationId } = target;
  const owners = { teamId, organizationId };
  tx.publish({ type: 'template.approval_weakened', subjectId: id, owners, data: { version, before, after } });
}

function toPolicy(approval: TemplateApproval | null): ApprovalPolicy {
  return { required: 0, when: 'never', ...approval, allow_self: false };
}
