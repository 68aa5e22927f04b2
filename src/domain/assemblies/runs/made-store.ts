import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { hasIncompleteApply } from '#domain/runs/deletion/incomplete-applies.ts';
import type { MadeNode } from './graph-nodes.ts';

/**
 * The nodes that runs of an assembly have made in an environment, each as its latest run had it. A node counts as deployed while its
 * instance holds resources, or may hold some because an apply did not end.
 */
export async function findMadeNodes(
  em: Em,
  { assemblyId, environmentId }: { assemblyId: string; environmentId: string },
): Promise<MadeNode[]> {
  const latest = db(em)
    .selectFrom('assembly_nodes as n')
    .innerJoin('assembly_runs as r', 'r.id', 'n.assembly_run_id')
    .where('r.assembly_id', '=', assemblyId)
    .where('r.environment_id', '=', environmentId)
    .where('r.operation', '=', 'apply')
    .where('n.run_id', 'is not', null)
    .distinctOn('n.key')
    .orderBy('n.key')
    .orderBy('n.id', 'desc')
    .select([
      'n.key',
      'n.spec',
      'n.waits_for as waitsFor',
      'n.template_id as templateId',
      'n.template_version_id as templateVersionId',
      'n.template_version as templateVersion',
      'n.instance',
    ]);
  const rows = await db(em)
    .selectFrom(latest.as('made'))
    .leftJoin('instances as i', (join) =>
      join
        .onRef('i.name', '=', 'made.instance')
        .onRef('i.template_id', '=', 'made.templateId')
        .on('i.environment_id', '=', environmentId)
        .on('i.deleted_at', 'is', null),
    )
    .selectAll('made')
    .select(({ ref }) => [
      sql<boolean>`coalesce(${ref('i.resource_count')} > 0 or ${hasIncompleteApply(ref('i.id'))}, false)`.as(
        'isDeployed',
      ),
    ])
    .execute();
  return rows as MadeNode[];
}
