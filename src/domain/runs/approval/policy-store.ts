import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { ApprovalRule, RunPhase } from '../model.ts';

/** The phases in which a run keeps the policy under which it applies, whatever becomes of its environment's. */
export const phasesWithOwnPolicy: readonly RunPhase[] = ['applying', 'finished'];

type OverRun = Over<{ runs: 'runs' }>;

/** The columns in which environments and runs hold a policy. */
type PolicyColumn = keyof Tables['environments'] & keyof Tables['runs'] & `approval_${string}`;

/** The `ApprovalPolicy` of the environment or run that a statement calls by an alias. */
export function selectPolicy(alias: string) {
  const column = <Value>(name: PolicyColumn) => sql.ref<Value>(`${alias}.${name}`);
  return jsonBuildObject({
    required: column<number>('approval_required'),
    when: column<ApprovalRule>('approval_when'),
    allow_self: column<boolean>('approval_allow_self'),
  });
}

/** The `ApprovalPolicy` with which a run was admitted. */
export function selectAdmittedPolicy() {
  return selectPolicy('runs');
}

/** The `ApprovalPolicy` that the environment of a run has now; null for a run without an environment. */
export function selectEnvironmentPolicy(eb: OverRun) {
  return eb
    .selectFrom('environments as e')
    .whereRef('e.id', '=', 'runs.environment_id')
    .select(selectPolicy('e').as('policy'))
    .$asScalar();
}

/**
 * Raises the revision of the runs that show the policy of an environment, which has changed. The caller has locked the environment;
 * the runs are locked in the order of their ids.
 */
export async function raiseRevisionOfGovernedRuns(em: Em, environmentId: string): Promise<void> {
  await db(em)
    .with('governed', (queries) =>
      queries
        .selectFrom('runs')
        .where('environment_id', '=', environmentId)
        .where('finished_at', 'is', null)
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
