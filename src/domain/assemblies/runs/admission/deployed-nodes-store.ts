import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { hasIncompleteApply } from '#domain/instances/conditions-store.ts';
import type { DeployedNode } from './plan-nodes.ts';

/** An assembly in an environment. */
interface AssemblyThere {
  readonly assemblyId: string;
  readonly environmentId: string;
}

/**
 * The nodes that runs of an assembly have applied in an environment. A node that later got another instance or template is listed once for
 * each, since both may have resources. A node counts as deployed while its instance has resources, or may have some because an apply did
 * not end.
 */
export async function findDeployedNodes(em: Em, where: AssemblyThere): Promise<DeployedNode[]> {
  const rows = await db(em)
    .selectFrom(latestApplied(em, where).as('node'))
    .leftJoin('instances as i', (join) =>
      join
        .onRef('i.name', '=', 'node.instance')
        .onRef('i.templateId', '=', 'node.templateId')
        .on('i.environmentId', '=', where.environmentId)
        .on('i.deletedAt', 'is', null),
    )
    .select(['node.id', 'node.key', 'node.spec', 'node.dependencies', 'node.assemblyVersionId', 'node.instance'])
    .select(['node.templateId', 'node.templateVersionId', 'node.templateVersion'])
    .select(({ ref }) => [
      sql<boolean>`coalesce(${ref('i.resourceCount')} > 0 or ${hasIncompleteApply(ref('i.id'))}, false)`.as(
        'holdsResources',
      ),
    ])
    .orderBy('node.id', 'desc')
    .execute();
  return nameApart(rows);
}

/** The latest rows of the nodes that had a run in an apply, one for each key, instance and template. */
function latestApplied(em: Em, { assemblyId, environmentId }: AssemblyThere) {
  return db(em)
    .selectFrom('assembly_nodes as n')
    .innerJoin('assembly_runs as r', 'r.id', 'n.assemblyRunId')
    .where('r.assemblyId', '=', assemblyId)
    .where('r.environmentId', '=', environmentId)
    .where('r.operation', '=', 'apply')
    .where((eb) => eb.exists(eb.selectFrom('runs as run').whereRef('run.assemblyNodeId', '=', 'n.id').select('run.id')))
    .distinctOn(['n.key', 'n.instance', 'n.templateId'])
    .orderBy('n.key')
    .orderBy('n.instance')
    .orderBy('n.templateId')
    .orderBy('n.id', 'desc')
    .select([
      'n.id',
      'n.key',
      'n.spec',
      'n.dependencies',
      'r.assemblyVersionId',
      'n.templateId',
      'n.templateVersionId',
      'n.templateVersion',
      'n.instance',
    ]);
}

/**
 * Gives each node a unique key; `rows` are latest first. An older node whose key belongs to a newer one gets a key made from its instance,
 * and is kept only if it is deployed.
 */
function nameApart(rows: readonly (DeployedNode & { id: string })[]): DeployedNode[] {
  const named = new Map<string, DeployedNode>();
  for (const { id: _id, ...node } of rows) {
    if (!named.has(node.key)) named.set(node.key, node);
    else if (node.holdsResources) {
      const key = `${node.key}-${node.instance}`
        .toLowerCase()
        .replace(/[^a-z0-9_-]/g, '-')
        .slice(0, 60);
      const isTaken = (each: string) => named.has(each);
      const free = [key, ...Array.from({ length: 99 }, (_, number) => `${key}-${number}`)].find(
        (each) => !isTaken(each),
      );
      if (free !== undefined) named.set(free, { ...node, key: free });
    }
  }
  return [...named.values()];
}
