import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { lockRows } from '#database/row-lock.ts';
import { prepare } from '#domain/db.ts';
import { shareApplyPause } from '#domain/holds/store.ts';
import { sharePrincipals } from '#domain/shared/access/authority-lock.ts';
import { Run } from '../../entity.ts';
import { readStepContext } from '../../steps/facts.ts';
import { findObstacle } from '../../steps/obstacles.ts';
import type { WaitingAttempt } from './waiting-attempt-store.ts';

/**
 * Whether an apply attempt that no worker has claimed must not start now: it may have waited for a worker since the step that opened it.
 * The rows that decide this stay share-locked until the commit. So an apply cannot start unaware that somebody has just locked its
 * environment, paused applies or disabled a reviewer.
 */
export async function isObstructed(
  em: Em,
  { phase, runId, environmentId, reviewers }: WaitingAttempt,
): Promise<boolean> {
  if (phase !== 'applying') return false;
  await Promise.all([sharePrincipals(em, { ids: reviewers }), shareApplyStart(em, environmentId)]);
  const run = await em.findOneOrFail(Run, { id: runId }, { disableIdentityMap: true });
  const { facts } = await readStepContext(em, run, { executed: null, canceled: false });
  return run.status === 'running' && findObstacle(facts) !== null;
}

/** Share-locks, until the commit, what keeps all applies of an environment from starting. Call it before anything of a run is locked. */
export async function shareApplyStart(em: Em, environmentId: string | null): Promise<void> {
  await Promise.all([environmentId === null ? null : shareEnvironment(em, { environmentId }), shareApplyPause(em)]);
}

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
