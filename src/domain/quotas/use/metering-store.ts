import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare, prepareChange } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { belongsTo } from './usage-store.ts';

/** Records bytes for each instance and month, independent of owners and limits. Callers have locked the row of the instance. */

const month = (time: ReturnType<typeof sql>) => sql<string>`date_trunc('month', ${time} at time zone 'UTC')::date`;

/** Adds a state that an instance has written. */
export const addStateBytes = prepare((db, parameter: ParameterOf<{ instanceId: string; bytes: number }>) =>
  db
    .insertInto('instance_usages')
    .values({
      instanceId: parameter('instanceId'),
      month: month(sql`clock_timestamp()`),
      stateBytes: sql`${parameter('bytes')}::bigint`,
      logBytes: sql.lit('0'),
    })
    .onConflict((conflict) =>
      conflict.columns(['instanceId', 'month']).doUpdateSet((eb) => ({
        stateBytes: eb('instance_usages.stateBytes', '+', eb.ref('excluded.stateBytes')),
      })),
    )
    .returning('instance_usages.instanceId'),
);

interface LogOfRun {
  readonly runId: string;
  /** When the run was admitted; no chunk has an earlier time. */
  readonly createdAt: string;
}

function sumLog(db: Kysely<Tables>, parameter: ParameterOf<LogOfRun>, sign: 1 | -1) {
  return db
    .selectFrom('run_log_chunks as c')
    .innerJoin('runs as r', 'r.id', 'c.runId')
    .where('c.runId', '=', parameter('runId'))
    .where('c.time', '>=', parameter('createdAt'))
    .groupBy(['r.instanceId', month(sql`c.time`)])
    .select([
      'r.instanceId',
      month(sql`c.time`).as('month'),
      sql<string>`0::bigint`.as('stateBytes'),
      sql<string>`${sql.lit(sign)} * sum(octet_length(c.content))::bigint`.as('logBytes'),
    ]);
}

function changeByLog(db: Kysely<Tables>, parameter: ParameterOf<LogOfRun>, sign: 1 | -1) {
  return db
    .insertInto('instance_usages')
    .columns(['instanceId', 'month', 'stateBytes', 'logBytes'])
    .expression(sumLog(db, parameter, sign))
    .onConflict((conflict) =>
      conflict.columns(['instanceId', 'month']).doUpdateSet((eb) => ({
        logBytes: eb('instance_usages.logBytes', '+', eb.ref('excluded.logBytes')),
      })),
    )
    .returning('instance_usages.instanceId');
}

/** Adds the log of a run that has just ended, to which nothing is written any longer. */
export const addLogBytes = prepareChange((db, parameter: ParameterOf<LogOfRun>) => changeByLog(db, parameter, 1));

/** Subtracts the log of an ended run, right before the log is deleted. */
export const removeLogBytes = prepare((db, parameter: ParameterOf<LogOfRun>) => changeByLog(db, parameter, -1));

/**
 * Sums again the bytes that the instances of a subject have written, from their states and the logs of their ended runs. The instances are
 * locked until the commit, so that nothing is written in between.
 */
export async function recountBytes(em: Em, subject: QuotaSubject): Promise<void> {
  const owner = { team: sql.ref<string>('i.teamId'), environment: sql.ref<string>('i.environmentId') };
  const instances = db(em).selectFrom('instances as i').where(belongsTo(subject, owner));
  await instances.select('i.id').orderBy('i.id').forNoKeyUpdate().execute();
  const isTheirs = (column: string) => sql<SqlBool>`${sql.ref(column)} in ${sql`(${instances.select('i.id')})`}`;
  await db(em).deleteFrom('instance_usages').where(isTheirs('instanceId')).execute();
  const states = db(em)
    .selectFrom('state_versions as s')
    .where(isTheirs('s.instanceId'))
    .select([
      's.instanceId',
      month(sql`s.created_at`).as('month'),
      sql<string>`s.size::bigint`.as('stateBytes'),
      sql<string>`0::bigint`.as('logBytes'),
    ]);
  const logs = db(em)
    .selectFrom('run_log_chunks as c')
    .innerJoin('runs as r', 'r.id', 'c.runId')
    .where(isTheirs('r.instanceId'))
    .where('r.finishedAt', 'is not', null)
    .select([
      'r.instanceId',
      month(sql`c.time`).as('month'),
      sql<string>`0::bigint`.as('stateBytes'),
      sql<string>`octet_length(c.content)::bigint`.as('logBytes'),
    ]);
  await db(em)
    .insertInto('instance_usages')
    .columns(['instanceId', 'month', 'stateBytes', 'logBytes'])
    .expression((eb) =>
      eb
        .selectFrom(states.unionAll(logs).as('w'))
        .groupBy(['w.instanceId', 'w.month'])
        .select((of) => [
          'w.instanceId',
          'w.month',
          of.fn.sum<string>('w.stateBytes').as('stateBytes'),
          of.fn.sum<string>('w.logBytes').as('logBytes'),
        ]),
    )
    .execute();
}
