import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { belongsTo } from './usage-store.ts';

/** Bytes are recorded for each instance and month, whoever owns it and whether or not anything limits them. Its row is locked meanwhile. */

const month = (time: ReturnType<typeof sql>) => sql<string>`date_trunc('month', ${time} at time zone 'UTC')::date`;

/** Adds a state that an instance has written. */
export const addStateBytes = prepare((db, parameter: ParameterOf<{ instanceId: string; bytes: number }>) =>
  db
    .insertInto('instance_usages')
    .values({
      instance_id: parameter('instanceId'),
      month: month(sql`clock_timestamp()`),
      state_bytes: sql`${parameter('bytes')}::bigint`,
      log_bytes: sql.lit('0'),
    })
    .onConflict((conflict) =>
      conflict.columns(['instance_id', 'month']).doUpdateSet((eb) => ({
        state_bytes: eb('instance_usages.state_bytes', '+', eb.ref('excluded.state_bytes')),
      })),
    )
    .returning('instance_usages.instance_id as instanceId'),
);

interface LogOfRun {
  readonly runId: string;
  /** When the run was admitted; no chunk has an earlier time. */
  readonly createdAt: string;
}

function sumLog(db: Kysely<Tables>, parameter: ParameterOf<LogOfRun>, sign: 1 | -1) {
  return db
    .selectFrom('run_log_chunks as c')
    .innerJoin('runs as r', 'r.id', 'c.run_id')
    .where('c.run_id', '=', parameter('runId'))
    .where('c.time', '>=', parameter('createdAt'))
    .groupBy(['r.instance_id', month(sql`c.time`)])
    .select([
      'r.instance_id',
      month(sql`c.time`).as('month'),
      sql<string>`0::bigint`.as('state_bytes'),
      sql<string>`${sql.lit(sign)} * sum(octet_length(c.content))::bigint`.as('log_bytes'),
    ]);
}

function changeByLog(sign: 1 | -1) {
  return prepare((db, parameter: ParameterOf<LogOfRun>) =>
    db
      .insertInto('instance_usages')
      .columns(['instance_id', 'month', 'state_bytes', 'log_bytes'])
      .expression(sumLog(db, parameter, sign))
      .onConflict((conflict) =>
        conflict.columns(['instance_id', 'month']).doUpdateSet((eb) => ({
          log_bytes: eb('instance_usages.log_bytes', '+', eb.ref('excluded.log_bytes')),
        })),
      )
      .returning('instance_usages.instance_id as instanceId'),
  );
}

/** Adds the log of a run that has just ended: nothing is written to it any more. */
export const addLogBytes = changeByLog(1);

/** Takes the log of an ended run away, right before it is deleted. */
export const removeLogBytes = changeByLog(-1);

/**
 * Sums up again what the instances of a subject have written, from their states and the logs of their ended runs. The instances are locked
 * until the commit, so that nothing is written in between.
 */
export async function recountBytes(em: Em, subject: QuotaSubject): Promise<void> {
  const owner = { team: sql.ref<string>('i.team_id'), environment: sql.ref<string>('i.environment_id') };
  const instances = db(em).selectFrom('instances as i').where(belongsTo(subject, owner));
  await instances.select('i.id').orderBy('i.id').forNoKeyUpdate().execute();
  const isTheirs = (column: string) => sql<SqlBool>`${sql.ref(column)} in ${sql`(${instances.select('i.id')})`}`;
  await db(em).deleteFrom('instance_usages').where(isTheirs('instance_id')).execute();
  const states = db(em)
    .selectFrom('state_versions as s')
    .where(isTheirs('s.instance_id'))
    .select([
      's.instance_id',
      month(sql`s.created_at`).as('month'),
      sql<string>`s.size::bigint`.as('state_bytes'),
      sql<string>`0::bigint`.as('log_bytes'),
    ]);
  const logs = db(em)
    .selectFrom('run_log_chunks as c')
    .innerJoin('runs as r', 'r.id', 'c.run_id')
    .where(isTheirs('r.instance_id'))
    .where('r.finished_at', 'is not', null)
    .select([
      'r.instance_id',
      month(sql`c.time`).as('month'),
      sql<string>`0::bigint`.as('state_bytes'),
      sql<string>`octet_length(c.content)::bigint`.as('log_bytes'),
    ]);
  await db(em)
    .insertInto('instance_usages')
    .columns(['instance_id', 'month', 'state_bytes', 'log_bytes'])
    .expression((eb) =>
      eb
        .selectFrom(states.unionAll(logs).as('w'))
        .groupBy(['w.instance_id', 'w.month'])
        .select((of) => [
          'w.instance_id',
          'w.month',
          of.fn.sum<string>('w.state_bytes').as('state_bytes'),
          of.fn.sum<string>('w.log_bytes').as('log_bytes'),
        ]),
    )
    .execute();
}
