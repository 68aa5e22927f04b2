import type { Em } from '#database/database.ts';
import { newestFirst } from '#domain/registry/versions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { type ApprovalPolicy, isWeakerApproval } from '#domain/shared/vocabulary/approval.ts';
import { requireMayWeaken } from '#domain/tenancy/policy.ts';
import { type AssemblyNodeSpec, instanceOf } from '../spec/spec.ts';
import type { AssemblyTarget } from '../store.ts';
import { findVersionNodes, listAvailableVersions, type VersionNode } from './version-store.ts';

type Nodes = Readonly<Record<string, Pick<AssemblyNodeSpec, 'instance' | 'approval'>>>;

/** How many versions one statement reads. Most nodes are in the highest ones. */
const versionsAtOnce = 20;

/**
 * Checks a version whose nodes demand less approval than before: the publisher needs the right to weaken a policy, and an event is
 * published. Each node is compared with the highest version that has its key, and with the highest that deploys its instance, so that
 * nobody can evade the rule with another key or with a version without the node. The caller has locked the assembly.
 * @throws Forbidden if the publisher may not weaken policies
 */
export async function weakenNodeApproval(
  tx: Transaction,
  target: AssemblyTarget,
  { version, nodes }: { readonly version: string; readonly nodes: Nodes },
  publisher: Principal,
): Promise<void> {
  const { assembly, teamId, organizationId } = target;
  const weaker = await findWeakerNodes(tx.em, assembly.id, nodes);
  if (weaker.length === 0) return;
  const named = weaker.map((node) => `${node.key} (as in ${node.version})`).join(', ');
  requireMayWeaken(publisher, target, `spec.nodes: nodes demand less approval than before: ${named}`);
  const owners = { teamId, organizationId };
  const data = { by: publisher.name, version, nodes: weaker.map(({ key }) => key) };
  tx.publish({ type: 'assembly.approval_weakened', subjectId: assembly.id, owners, data });
}

/** The nodes that demand less approval than before, each with the version that demanded more. */
async function findWeakerNodes(em: Em, assemblyId: string, nodes: Nodes): Promise<{ key: string; version: string }[]> {
  const earlier = await findEarlierNodes(em, assemblyId, nodes);
  return Object.entries(nodes).flatMap(([key, node]) => {
    const replaced = [...(earlier.keys.get(key) ?? []), ...(earlier.instances.get(instanceOf(key, node)) ?? [])];
    const stricter = replaced.find(({ approval }) => isWeakerApproval(toPolicy(node), toPolicy({ approval })));
    return stricter ? [{ key, version: stricter.version }] : [];
  });
}

interface EarlierNode extends VersionNode {
  readonly version: string;
}

/** Nodes of the highest versions that have them. */
interface EarlierNodes {
  readonly keys: Map<string, EarlierNode[]>;
  readonly instances: Map<string, EarlierNode[]>;
}

/** Looks through the versions, highest first, until all keys and instances of the nodes are found. */
async function findEarlierNodes(em: Em, assemblyId: string, nodes: Nodes): Promise<EarlierNodes> {
  const found: EarlierNodes = { keys: new Map(), instances: new Map() };
  const versions = newestFirst(await listAvailableVersions(em, assemblyId));
  for (let next = 0; next < versions.length; next += versionsAtOnce) {
    const keys = Object.keys(nodes).filter((key) => !found.keys.has(key));
    const wanted = new Set(Object.entries(nodes).map(([key, node]) => instanceOf(key, node)));
    const instances = [...wanted].filter((instance) => !found.instances.has(instance));
    if (keys.length + instances.length === 0) break;
    const some = versions.slice(next, next + versionsAtOnce);
    const ids = some.map(({ id }) => id);
    const rows = await findVersionNodes(em, ids, { keys, instances });
    for (const { id, version } of some) {
      const inVersion = rows.filter(({ versionId }) => versionId === id).map((row) => ({ ...row, version }));
      addMissing(found.keys, keys, inVersion, 'key');
      addMissing(found.instances, instances, inVersion, 'instance');
    }
  }
  return found;
}

/** Adds the nodes of a version by the names that no higher version has. */
function addMissing(
  found: Map<string, EarlierNode[]>,
  wanted: readonly string[],
  nodes: readonly EarlierNode[],
  by: 'key' | 'instance',
): void {
  const named = Map.groupBy(nodes, (node) => node[by]);
  for (const name of wanted) {
    const ofName = named.get(name);
    if (ofName && !found.has(name)) found.set(name, ofName);
  }
}

/** The approval that a node demands. A node without a policy demands none. */
function toPolicy({ approval }: { readonly approval?: VersionNode['approval'] | undefined }): ApprovalPolicy {
  return approval ?? { required: 0, when: 'never', allow_self: true };
}
