import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** How the latest run goes that was asked for to remedy a finding; undefined if there was none. */
export function findLatestRemediation(em: Em, finding: { readonly id: string; readonly instanceId: string }) {
  return (
    db(em)
      .selectFrom('runs')
      .select(['id', 'status', 'finished_at as finishedAt'])
      // The runs of one instance are found by an index.
      .where('instance_id', '=', finding.instanceId)
      .where('drift_finding_id', '=', finding.id)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
  );
}
