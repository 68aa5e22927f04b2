import { type ApprovalPolicy, isWeakerApproval } from '#domain/registry/approval/approval-policy.ts';
import { newestFirst } from '#domain/registry/versions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { requireMayWeaken } from '#domain/tenancy/policy.ts';
import { type AssemblyNodeSpec, instanceOf } from '../spec/spec.ts';
import type { AssemblyTarget } from '../store.ts';
import { listAvailableVersions, readVersionNodes } from './version-store.ts';

type Nodes = Readonly<Record<string, Pick<AssemblyNodeSpec, 'instance' | 'approval'>>>;

/**
 * A version whose nodes demand less approval than those of the highest version of its assembly needs the right to weaken a policy, and
 * is an event. The caller has locked the assembly.
 * @throws Forbidden if the publisher may not weaken policies
 */
export async function weakenNodeApproval(
  tx: Transaction,
  target: AssemblyTarget,
  { version, nodes }: { readonly version: string; readonly nodes: Nodes },
  publisher: Principal,
): Promise<void> {
  const { assembly, teamId, organizationId } = target;
  const [highest] = newestFirst(await listAvailableVersions(tx.em, assembly.id));
  const weaker = highest ? findWeakerNodes(await readVersionNodes(tx.em, highest.id), nodes) : [];
  if (!highest || weaker.length === 0) return;
  const less = `nodes demand less approval than in ${highest.version}: ${weaker.join(', ')}`;
  requireMayWeaken(publisher, target, `spec.nodes: ${less}`);
  const owners = { teamId, organizationId };
  const data = { by: publisher.name, version, nodes: weaker };
  tx.publish({ type: 'assembly.approval_weakened', subjectId: assembly.id, owners, data });
}

/**
 * The keys of the nodes that demand less approval than they did. A node that deploys the instance of an earlier node takes its place,
 * so that another key opens no way around the rule.
 */
export function findWeakerNodes(before: Nodes, after: Nodes): string[] {
  const earlier = Object.entries(before);
  return Object.entries(after).flatMap(([key, node]) => {
    const replaced = earlier.filter(([name, each]) => name === key || instanceOf(name, each) === instanceOf(key, node));
    return replaced.some(([, each]) => isWeakerApproval(toPolicy(node), toPolicy(each))) ? [key] : [];
  });
}

/** What a node demands. A node without a policy demands nothing. */
function toPolicy({ approval }: Nodes[string]): ApprovalPolicy {
  return approval ?? { required: 0, when: 'never', allow_self: true };
}
