import { sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import { selectEgress } from '#domain/workers/pools/store.ts';

/** An attempt that a worker wants to claim: what decides which rows it has to lock first. Nothing of its run is locked yet. */
export type WaitingAttempt = Awaited<ReturnType<typeof selectWaitingAttempt>>[number];

/** A queued run that a worker wants to begin: what decides which rows it has to lock first. */
export const selectQueuedRun = prepare((queries, parameter: ParameterOf<{ runId: string }>) =>
  queries
    .selectFrom('runs')
    .where('runs.id', '=', parameter('runId'))
    .where('runs.status', '=', sql.lit('queued'))
    .select(['runs.reads', 'runs.templateVersionId', 'runs.environmentId', 'runs.projectId', 'runs.pool'])
    .select((eb) => selectEgress(eb.ref('runs.pool')).as('egress')),
);

export const selectWaitingAttempt = prepare((queries, parameter: ParameterOf<{ attemptId: string }>) =>
  queries
    .selectFrom('run_attempts as a')
    .innerJoin('runs', 'runs.id', 'a.runId')
    .where('a.id', '=', parameter('attemptId'))
    .select(['a.id', 'a.phase', 'a.runId', 'runs.operation', 'runs.reads', 'runs.templateVersionId'])
    .select(['runs.environmentId', 'runs.projectId', 'runs.teamId'])
    .select((eb) => selectEgress(eb.ref('runs.pool')).as('egress'))
    .select((eb) =>
      eb
        .selectFrom('run_reviews as v')
        .whereRef('v.runId', '=', 'runs.id')
        .select((of) => {
          const [reviewer, person] = [of.ref('v.reviewerId'), of.ref('v.responsibleUserId')];
          return sql<string[]>`coalesce(jsonb_agg(${reviewer}) || jsonb_agg(${person}), '[]')`.as('ids');
        })
        .$asScalar()
        .$notNull()
        .as('reviewers'),
    ),
);
