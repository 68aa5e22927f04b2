import { sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import type { Isolation } from '../model.ts';
import { takesWork } from '../store.ts';
import type { PoolAccess } from './model.ts';

/** At most this many unfinished runs are counted, so that a long queue does not slow down each admission. */
const maxCounted = 200;

/**
 * What the admission of a run asks about its pool. `access`: who may use it; null if no operator has created it. `freeIsolation`: the
 * isolation of the workers that can probably begin the run at once. It is null if no slot seems to be free, if the workers differ, or if
 * a worker of an earlier release lives, which does not know workflows that let workers begin runs. Nothing is locked.
 */
export const selectPoolOfRun = prepare((db, parameter: ParameterOf<{ pool: string }>) =>
  db
    .selectFrom('workers as w')
    .where(takesWork)
    .select((eb) => {
      const serves = sql<boolean>`${eb.ref('w.pools')} @> jsonb_build_array(${parameter('pool')}::text)`;
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
        .where('unfinished.pool', '=', parameter('pool'))
        .select((of) => of.fn.countAll().as('count'));
      const created = eb
        .selectFrom('worker_pools as p')
        .where('p.name', '=', parameter('pool'))
        .select((of) =>
          sql<PoolAccess>`jsonb_build_object('teamIds', ${of.ref('p.teamIds')}, 'environmentIds', ${of.ref('p.environmentIds')})`.as(
            'access',
          ),
        );
      return [
        created.$asScalar().as('access'),
        // The run itself counts already.
        sql<Isolation | null>`case when bool_and(${eb.ref('w.beginsRuns')}) and ${slots} >= (${busy})
          and cardinality(${isolations}) = 1 then (${isolations})[1] end`.as('freeIsolation'),
      ];
    }),
);
