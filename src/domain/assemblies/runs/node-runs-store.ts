import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** The runs of each node of an assembly run by the node's key, oldest first. A node has several if it was tried again or resumed. */
export async function listRunsOfNodes(em: Em, assemblyRunId: string): Promise<Map<string, string[]>> {
  const rows = await db(em)
    .selectFrom('runs as r')
    .innerJoin('assembly_nodes as n', 'n.id', 'r.assemblyNodeId')
    .where('n.assemblyRunId', '=', assemblyRunId)
    .select(['n.key', 'r.id'])
    .orderBy('r.id')
    .execute();
  const byKey = Map.groupBy(rows, ({ key }) => key);
  return new Map([...byKey].map(([key, runs]) => [key, runs.map(({ id }) => id)]));
}
