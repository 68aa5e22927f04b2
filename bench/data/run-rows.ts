import type pg from 'pg';

const ids = 2_000;

/** The requester of a single one of the copies. */
export const rareRequester = '00000000-0000-7000-8000-00000000a11e';

/**
 * Inserts this many copies of an existing run. Their ids (UUIDv7) and times spread over the past year, and they belong to a
 * hundred instances. Their statuses are as in use: most succeeded, few failed, and the youngest are running. One of them destroys, and one has another requester.
 * @returns a sample of the ids, oldest first
 */
export async function insertRuns(database: pg.Pool, runId: string, count: number): Promise<string[]> {
  const { rows: columns } = await database.query(
    `select column_name from information_schema.columns where table_name = 'runs' order by ordinal_position`,
  );
  const own: Readonly<Record<string, string>> = {
    id: `overlay(lpad(to_hex((extract(epoch from made.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(made.n::text), 1, 19)
           placing '8' from 17 for 1)::uuid`,
    idempotency_key: 'gen_random_uuid()',
    instance_id: `case when made.n % 100 = 0 then r.instance_id else md5((made.n % 100)::text)::uuid end`,
    instance: `'instance-' || made.n % 100`,
    instance_position: `(made.n / 100)::int + 2`,
    status: `case when made.n > ${count} - 20 then 'running' when made.n = ${count} / 2 then 'timed_out' when made.n % 50 = 0 then 'failed' else 'succeeded' end`,
    phase: `case when made.n > ${count} - 20 then 'applying' else 'finished' end`,
    operation: `case when made.n = ${count} / 3 then 'destroy' else r.operation end`,
    requested_by_id: `case when made.n = ${count} / 4 then '${rareRequester}' else r.requested_by_id end`,
    waiting_on: 'null',
    created_at: 'made.at',
    started_at: `made.at + interval '1 second'`,
    finished_at: `case when made.n > ${count} - 20 then null else made.at + interval '10 seconds' end`,
  };
  const names = columns.map(({ column_name: name }) => `"${name}"`);
  const values = columns.map(({ column_name: name }) => own[name] ?? `r."${name}"`);
  await database.query(
    `insert into runs (${names.join(', ')})
     select ${values.join(', ')} from runs r,
       (select n, now() - interval '1 year' + n * (interval '1 year' / ${count + 1}) as at from generate_series(1, ${count}) n) made
      where r.id = $1`,
    [runId],
  );
  await database.query('vacuum analyze runs');
  const { rows } = await database.query(
    `select id from (select id, row_number() over (order by id) as place from runs) placed where place % ${Math.ceil(count / ids)} = 1 order by id`,
  );
  return rows.map(({ id }) => id);
}
