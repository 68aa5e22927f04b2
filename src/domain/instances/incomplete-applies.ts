import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { reasonsThat } from '#domain/shared/vocabulary/run-reasons.ts';
import { type AttemptOutcome, writingOperations } from '#domain/shared/vocabulary/runs.ts';

/**
 * The outcomes of attempts that may have changed more than is recorded. An attempt of a run that was ended by force has no outcome, and
 * counts as well.
 */
const uncertainOutcomes: readonly AttemptOutcome[] = ['canceled', 'timed_out', 'lost'];
/** The reasons of failed attempts whose last changes may be missing in the state. */
const uncertainReasons = reasonsThat('isUncertain');

/** The columns of a run that the condition reads. */
export type IncompleteColumn = 'id' | 'instanceId' | 'instancePosition' | 'operation' | 'status' | 'statusReason';

/**
 * The condition that the run in a row has begun to apply and may have changed more than the service knows, and that no run which changes
 * the instance has succeeded since. A run that still applies counts too, so that a deletion does not miss a run that ends while it looks
 * for blockers.
 */
export function isIncompleteApply(run: (column: IncompleteColumn) => Expression<unknown>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const attempts = eb
    .selectFrom('run_attempts as a')
    .where((attempt) => sql<SqlBool>`${attempt.ref('a.runId')} = ${run('id')}`)
    .where('a.phase', '=', 'applying')
    .where('a.workerId', 'is not', null)
    .where((attempt) =>
      attempt.or([
        attempt('a.outcome', 'is', null),
        attempt('a.outcome', 'in', uncertainOutcomes),
        sql<SqlBool>`${run('statusReason')} in (${sql.join(uncertainReasons)})`,
      ]),
    )
    .select('a.id');
  const laterSuccesses = eb
    .selectFrom('runs as later')
    .where((later) => sql<SqlBool>`${later.ref('later.instanceId')} = ${run('instanceId')}`)
    .where((later) => sql<SqlBool>`${later.ref('later.instancePosition')} > ${run('instancePosition')}`)
    .where('later.operation', 'in', writingOperations)
    .where('later.status', '=', 'succeeded')
    .select('later.id');
  return eb.and([
    sql<SqlBool>`${run('operation')} in (${sql.join(writingOperations)})`,
    sql<SqlBool>`${run('status')} <> 'succeeded'`,
    eb.exists(attempts),
    eb.not(eb.exists(laterSuccesses)),
  ]);
}

/** The condition that such a run of an instance exists. */
export function hasIncompleteApply(instanceId: Expression<unknown>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const incomplete = eb
    .selectFrom('runs as r')
    .where((run) => sql<SqlBool>`${run.ref('r.instanceId')} = ${instanceId}`)
    .where(isIncompleteApply((column) => sql.ref(`r.${column}`)))
    .select('r.id');
  return eb.exists(incomplete);
}
