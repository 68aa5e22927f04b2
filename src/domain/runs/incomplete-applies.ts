import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { type AttemptOutcome, type StatusReason, writingOperations } from './model.ts';

/** How an attempt ends that may have changed more than anything records. An attempt of a forced run stays without an outcome. */
const uncertainOutcomes: readonly AttemptOutcome[] = ['canceled', 'timed_out', 'lost'];
/** Why an attempt fails whose last changes may not be in the state. */
const uncertainReasons: readonly StatusReason[] = ['executor_lost', 'state_not_saved', 'state_refused'];

/**
 * The condition that a run of an instance has begun to apply and may have changed more than the service knows, and that no run
 * which changes the instance has succeeded since. A run that still applies counts too, so that one that ends while a deletion
 * looks for blockers is not missed.
 */
export function hasIncompleteApply(instanceId: Expression<unknown>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const incomplete = eb
    .selectFrom('runs as r')
    .innerJoin('run_attempts as a', 'a.run_id', 'r.id')
    .where((run) => sql<SqlBool>`${run.ref('r.instance_id')} = ${instanceId}`)
    .where('r.operation', 'in', writingOperations)
    .where('r.status', '<>', 'succeeded')
    .where('a.phase', '=', 'applying')
    .where('a.worker_id', 'is not', null)
    .where((run) =>
      run.or([
        run('a.outcome', 'is', null),
        run('a.outcome', 'in', uncertainOutcomes),
        run('r.status_reason', 'in', uncertainReasons),
      ]),
    )
    .where((run) =>
      run.not(
        run.exists(
          run
            .selectFrom('runs as later')
            .whereRef('later.instance_id', '=', 'r.instance_id')
            .whereRef('later.instance_position', '>', 'r.instance_position')
            .where('later.operation', 'in', writingOperations)
            .where('later.status', '=', 'succeeded')
            .select('later.id'),
        ),
      ),
    )
    .select('r.id');
  return eb.exists(incomplete);
}
