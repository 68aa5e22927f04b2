import { sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { type Over, prepare } from '#domain/db.ts';
import { heartbeatExpiry } from './heartbeats.ts';
import type { WorkerLiveness } from './model.ts';
import type { PoolAccess } from './pools/model.ts';
import { takesWork } from './store.ts';

/** What a run needs to know about its pool and about the workers that may execute it. */

type OverRun = Over<{ runs: 'runs' }>;

/** The `PoolAccess` of the pool of a run; null if no operator has created the pool. */
export function poolAccessOfRun(eb: OverRun) {
  return eb
    .selectFrom('worker_pools as pool')
    .whereRef('pool.name', '=', 'runs.pool')
    .select((of) => {
      const [teamIds, environmentIds] = [of.ref('pool.teamIds'), of.ref('pool.environmentIds')];
      return sql<PoolAccess>`jsonb_build_object('teamIds', ${teamIds}, 'environmentIds', ${environmentIds})`.as(
        'access',
      );
    })
    .$asScalar();
}

/**
 * Whether the pool or the environment of a run requires a sandbox. It is evaluated each time a worker gets an attempt, so a new requirement
 * takes effect at once. A pool that limits egress requires a sandbox as well, because only a sandbox enforces the limit.
 */
export function demandsSandbox(eb: OverRun) {
  const pool = eb
    .selectFrom('worker_pools as demanding')
    .whereRef('demanding.name', '=', 'runs.pool')
    .where((of) =>
      of.or([
        of('demanding.isolation', '=', 'sandbox'),
        of(of.ref('demanding.egress', '->>').key('policy'), 'in', ['none', 'allow']),
      ]),
    );
  const environment = eb
    .selectFrom('environments as demanding')
    .whereRef('demanding.id', '=', 'runs.environmentId')
    .where('demanding.isolation', '=', 'sandbox');
  return eb
    .or([eb.exists(pool.select('demanding.name')), eb.exists(environment.select('demanding.id'))])
    .$castTo<boolean>();
}

/**
 * The workers that serve the pool of a run and take new work. Each comes with whether only a worker with a sandbox may execute
 * the run.
 */
export const findLiveWorkers = prepare((db, parameter: ParameterOf<{ runId: string }>) =>
  db
    .selectFrom('runs')
    .innerJoin('workers as w', (join) =>
      join.on((eb) => sql<boolean>`${eb.ref('w.pools')} @> jsonb_build_array(${eb.ref('runs.pool')})`),
    )
    .where('runs.id', '=', parameter('runId'))
    .where(takesWork)
    .select((eb) => ['w.id', 'w.isolation', 'w.tools', demandsSandbox(eb).as('demandsSandbox')]),
);

/** A live worker; its isolation is null if its release did not report one. */
export type LiveWorker = Awaited<ReturnType<typeof findLiveWorkers>>[number];

export function isContainedEnough({ isolation, demandsSandbox: isDemanded }: LiveWorker): boolean {
  return isolation === 'sandbox' || !isDemanded;
}

/** The liveness of the worker that executes the attempt `a`. */
export function workerLiveness(eb: Over<{ a: 'run_attempts' }>) {
  const found = eb
    .selectFrom('workers as worker')
    .whereRef('worker.id', '=', 'a.workerId')
    .select((of) =>
      of
        .case()
        .when('worker.heartbeatAt', '>', heartbeatExpiry)
        .then(sql.lit('alive'))
        .else(sql.lit('silent'))
        .end()
        .as('liveness'),
    );
  return eb.fn.coalesce(found.$asScalar(), sql.lit('gone')).$castTo<WorkerLiveness>();
}
