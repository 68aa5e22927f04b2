import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** The status of the latest run that was requested to remedy a finding; undefined if there was none. */
export function findLatestRemediation(em: Em, findingId: string) {
  return db(em)
    .selectFrom('runs')
    .select(['id', 'status', 'statusReason as status_reason', 'waitingOn as waiting_on', 'finishedAt'])
    .where('driftFindingId', '=', findingId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/**
 * The oldest run that has not ended and remedies a finding; undefined if there is none. A repeated remediation counts if it expects the
 * same deployment; a copy with other inputs does not.
 */
export function findRemediationInFlight(
  em: Em,
  finding: { readonly id: string; readonly instanceId: string },
): Promise<{ id: string } | undefined> {
  return db(em)
    .withRecursive('repeated', (cte) =>
      cte
        .selectFrom('runs as r')
        .where('r.instanceId', '=', finding.instanceId)
        .where('r.finishedAt', 'is', null)
        .where('r.expectedDeployedRunId', 'is not', null)
        .select(['r.id', 'r.requeuedFrom as source', 'r.driftFindingId as findingId'])
        .unionAll(
          cte
            .selectFrom('repeated')
            .innerJoin('runs as s', 's.id', 'repeated.source')
            .select(['repeated.id', 's.requeuedFrom as source', 's.driftFindingId as findingId']),
        ),
    )
    .selectFrom('repeated')
    .where('repeated.findingId', '=', finding.id)
    .orderBy('repeated.id')
    .select('repeated.id')
    .limit(1)
    .executeTakeFirst();
}
