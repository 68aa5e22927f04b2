import { sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import { takesWork } from './store.ts';

/** The workers that take new work of a pool and meet the pool's own requirements. Environments may require more. */
export const findWorkersOfPool = prepare((db, parameter: ParameterOf<{ pool: string }>) =>
  db
    .selectFrom('workers as w')
    .leftJoin('worker_pools as demanding', (join) => join.on('demanding.name', '=', parameter('pool')))
    .where((eb) => sql<boolean>`${eb.ref('w.pools')} @> jsonb_build_array(${parameter('pool')}::text)`)
    .where(takesWork)
    .where((eb) =>
      eb.or([
        eb('w.isolation', '=', 'sandbox'),
        eb.not(
          eb.fn.coalesce(
            eb.or([
              eb('demanding.isolation', '=', 'sandbox'),
              eb(eb.ref('demanding.egress', '->>').key('policy'), 'in', ['none', 'allow']),
            ]),
            eb.lit(false),
          ),
        ),
      ]),
    )
    .select(['w.id', 'w.tools']),
);
