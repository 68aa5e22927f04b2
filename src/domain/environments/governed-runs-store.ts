import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { phasesWithOwnPolicy } from '#domain/shared/vocabulary/runs.ts';

/**
 * Raises the revisions of the runs that show the policy of an environment, after the policy has changed. The caller has locked the
 * environment; the runs are locked in the order of their ids.
 */
export async function raiseRevisionOfGovernedRuns(em: Em, environmentId: string): Promise<void> {
  await db(em)
    .with('governed', (queries) =>
      queries
        .selectFrom('runs')
        .where('environmentId', '=', environmentId)
        .where('finishedAt', 'is', null)
        .where('phase', 'not in', phasesWithOwnPolicy)
        .select('id')
        .orderBy('id')
        .forNoKeyUpdate(),
    )
    .updateTable('runs')
    .from('governed')
    .whereRef('runs.id', '=', 'governed.id')
    .set((eb) => ({ revision: eb('runs.revision', '+', 1) }))
    .execute();
}
