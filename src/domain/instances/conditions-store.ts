import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { administersInstallation } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { reasonsThat } from '#domain/shared/vocabulary/run-reasons.ts';
import { type AttemptOutcome, writingOperations } from '#domain/shared/vocabulary/runs.ts';

/**
 * Whether the caller has run an instance, and nobody else has run it or imported its state. Otherwise, everybody who can start a run of an
 * instance of the whole installation could read what others left in its state.
 */
export function isUsedByCallerAlone(instanceId: Expression<string>, callerId: string): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const runs = eb
    .selectFrom('runs as used')
    .where((run) => run(run.ref('used.instanceId'), '=', instanceId))
    // A scan for drift leaves nothing in the instance.
    .where('used.operation', '<>', 'scan')
    .select('used.id');
  const others = runs
    .where('used.requestedById', 'is distinct from', callerId)
    .where('used.responsibleUserId', 'is distinct from', callerId);
  const imported = eb
    .selectFrom('state_versions as version')
    .where((version) => version(version.ref('version.instanceId'), '=', instanceId))
    .where('version.createdBy', '<>', callerId)
    .select('version.serial');
  return eb.and([eb.exists(runs), eb.not(eb.exists(others)), eb.not(eb.exists(imported))]);
}

/** Whether the caller may read the contents of an instance without a team, by the rule of `decide` for such targets. */
export function mayReadUnscoped(instanceId: Expression<string>, caller: Principal): Expression<SqlBool> {
  return administersInstallation(caller)
    ? expressionBuilder<Tables>().lit(true)
    : isUsedByCallerAlone(instanceId, caller.id);
}

/** The condition that an instance has open drift findings of a monitor that still exists. */
export function hasDrifted(instanceId: Expression<string>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  return eb.exists(
    eb
      .selectFrom('drift_findings as drift')
      .innerJoin('drift_monitors as monitor', 'monitor.id', 'drift.monitorId')
      .where('drift.instanceId', '=', instanceId)
      .where('drift.status', '=', 'open')
      .where('monitor.deletedAt', 'is', null)
      .select('drift.id'),
  );
}

/** The condition that outputs of other instances have changed since the present deployment of an instance read them. */
export function haveInputsChanged(instanceId: Expression<string | null>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  return eb.exists(
    eb
      .selectFrom('instances as reading')
      .where('reading.id', '=', instanceId)
      .whereRef('reading.inputsChangedRunId', '=', 'reading.deployedRunId')
      .select('reading.id'),
  );
}

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
