import { sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { type Over, prepare } from '#domain/db.ts';
import { heartbeatExpiry } from './heartbeats.ts';
import type { Isolation, WorkerLiveness } from './model.ts';
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

/** At most this many unfinished runs are counted, so that a long queue does not slow down each admission. */
const maxCounted = 1_000;

/**
 * The isolation of the workers that can probably begin a new run of their pool at once. Null if no slot seems to be free, if the workers
 * differ, or if a worker of an earlier release lives, which does not know workflows that let workers begin runs. A worker that drains still
 * leads workflows. Nothing is locked.
 */
export function freeIsolationFor(run: OverRun) {
  return run
    .selectFrom('workers as w')
    .where('w.heartbeatAt', '>', heartbeatExpiry)
    .select((eb) => {
      const serves = sql<boolean>`${takesWork(eb)} and ${eb.ref('w.pools')} @> jsonb_build_array(${run.ref('runs.pool')})`;
      const slots = sql<number>`sum(${eb.ref('w.concurrency')}) filter (where ${serves})`;
      const isolations = sql<Isolation[]>`array_agg(distinct ${eb.ref('w.isolation')}) filter (where ${serves})`;
      const unfinished = eb
        .selectFrom('runs as r')
        .where('r.finishedAt', 'is', null)
        .where('r.status', 'in', ['queued', 'running'])
        .limit(maxCounted)
        .select('r.pool');
      const busy = eb
        .selectFrom(unfinished.as('unfinished'))
        .where('unfinished.pool', '=', run.ref('runs.pool'))
        .select((of) => of.fn.countAll().as('count'));
      return sql<Isolation | null>`case when bool_and(${eb.ref('w.beginsRuns')}) and ${slots} > (${busy})
        and cardinality(${isolations}) = 1 then (${isolations})[1] end`.as('isolation');
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
