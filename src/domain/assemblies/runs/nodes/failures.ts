import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { describeDetail, joinDetails, type StatusDetail } from '#domain/runs/diagnostics/status-detail.ts';
import type { AssemblyNode } from '../../entity.ts';

/** The maximum number of nodes that are named. */
const maxNamed = 5;

/** Names the nodes that failed or took too long, each with its error; null if there are none. */
export async function describeFailures(em: Em, nodes: readonly AssemblyNode[]): Promise<StatusDetail | null> {
  const failed = nodes.filter(({ status }) => status === 'failed' || status === 'timed_out');
  const named = failed.slice(0, maxNamed);
  const details = await readDetails(em, named);
  const parts = named.map(({ key, runId, reason }) => {
    const detail = details.get(runId ?? '');
    return `"${key}": ${detail ? describeDetail(detail) : (reason?.message ?? 'it failed')}`;
  });
  const others = failed.length - named.length;
  return joinDetails(others > 0 ? [...parts, `and ${others} more`] : parts);
}

async function readDetails(em: Em, nodes: readonly AssemblyNode[]): Promise<Map<string, StatusDetail>> {
  const ids = nodes.flatMap(({ runId }) => runId ?? []);
  if (ids.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('runs')
    .where('id', 'in', ids)
    .select(['id', 'statusDetail as detail'])
    .execute();
  return new Map(rows.flatMap(({ id, detail }) => (detail === null ? [] : [[id, detail] as const])));
}
