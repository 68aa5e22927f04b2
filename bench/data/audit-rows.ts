import type pg from 'pg';

/**
 * Inserts this many audit records, spread over the past year like those of an installation in use: most are about runs of
 * one robot, 1 in 50 is a refusal, and 1 in 10,000 has an action that a benchmark searches for.
 */
export async function insertAuditRecords(database: pg.Pool, count: number): Promise<void> {
  await database.query(`select make_month_partitions('audit_records', now() - interval '1 year', 15)`);
  await database.query(
    `insert into audit_records (id, at, actor_id, actor_type, actor_name, credential_type, credential_id, action,
        resource_type, resource_id, organization_id, team_id, outcome, request_id, address, after)
     select gen_random_uuid(), at, actor, 'user', 'Somebody', 'api_key', actor, action,
            case when action like 'run.%' then 'runs' else 'teams' end, md5('thing ' || n / 3)::uuid::text,
            md5('organization')::uuid, md5('team ' || n % 30)::uuid, case when n % 50 = 0 then 'refused' else 'committed' end,
            md5('request ' || n)::uuid::text, '192.0.2.' || n % 200,
            jsonb_build_object('operation', 'apply', 'template_id', md5('template ' || n % 40)::uuid)
       from (select n, now() - interval '1 year' + n * (interval '1 year' / ${count + 1}) as at,
                    case when n % 10 < 6 then md5('robot') else md5('person ' || n % 200) end::uuid as actor,
                    case when n % 10000 = 3 then 'team.created' when n % 10 < 6 then 'run.created' else 'run.reviewed' end as action
               from generate_series(1, ${count}) n) made`,
  );
  await database.query('vacuum analyze audit_records');
}
