import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { lockRows } from '#database/row-lock.ts';
import { prepare } from '#domain/db.ts';
import { shareApplyPause } from '#domain/holds/store.ts';
import { sharePrincipals } from '#domain/shared/access/authority-lock.ts';
import { Run } from '../../entity.ts';
import { readStepContext } from '../../steps/facts.ts';
import { findObstacle } from '../../steps/obstacles.ts';

/**
 * Whether an apply attempt that no worker has claimed must not start now: it may have waited for a worker since the step that opened it.
 * The rows that decide this stay share-locked until the commit. So an apply cannot start unaware that somebody has just locked its
 * environment, paused applies or disabled a reviewer.
 */
export async function isObstructed(em: Em, attemptId: string): Promise<boolean> {
  const [attempt] = await selectAttempt(em, { attemptId });
  if (attempt?.phase !== 'applying') return false;
  const { runId, environmentId, reviewers } = attempt;
  await Promise.all([
    sharePrincipals(em, { ids: reviewers }),
    environmentId === null ? null : shareEnvironment(em, { environmentId }),
    shareApplyPause(em),
  ]);
  const run = await em.findOneOrFail(Run, { id: runId }, { disableIdentityMap: true });
  const { facts } = await readStepContext(em, run, { executed: null, canceled: false });
  return run.status === 'running' && findObstacle(facts) !== null;
}

const selectAttempt = prepare((queries, parameter: ParameterOf<{ attemptId: string }>) =>
  queries
    .selectFrom('run_attempts as a')
    .innerJoin('runs', 'runs.id', 'a.runId')
    .where('a.id', '=', parameter('attemptId'))
    .select((eb) => [
      'a.phase',
      'a.runId',
      'runs.environmentId',
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
    ]),
);

const shareEnvironment = prepare((queries, parameter: ParameterOf<{ environmentId: string }>) =>
  lockRows(
    queries
      .selectFrom('environments')
      .where('environments.id', '=', parameter('environmentId'))
      .select('environments.id'),
    ['environments'],
    true,
  ),
);
