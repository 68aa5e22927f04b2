import type { TestApi } from '../api/in-process-api.ts';

/** The tables whose rows the API made just now, and how many days ago the first of each was made. */
const ages: Readonly<Record<string, number>> = {
  organizations: 420,
  teams: 400,
  principals: 430,
  projects: 380,
  environments: 370,
  templates: 360,
  template_versions: 350,
  api_keys: 190,
  invitations: 9,
  organization_members: 410,
  team_members: 395,
  worker_pools: 300,
};

/** Spreads what was made just now over the past, in the order in which it was made. */
export async function backdate(api: TestApi): Promise<void> {
  for (const [table, days] of Object.entries(ages)) {
    const key = table === 'worker_pools' ? 'name' : 'id';
    await api.rows(
      `update ${table} t set created_at = now() - ?::float8 * interval '1 day' * (1 - (n.number - 1) / (n.count::float8 + 1))
         from (select ${key} as key, row_number() over (order by created_at, ${key}) as number, count(*) over () as count from ${table}) n
        where n.key = t.${key}`,
      [days],
    );
  }
  await backdateAudit(api);
}

/** The records of the installation's making reach back three months; those of its runs have the times of the runs. */
async function backdateAudit(api: TestApi): Promise<void> {
  await api.rows(`select make_month_partitions('audit_records', now() - interval '6 months', 9)`);
  await api.rows(
    `update audit_records r set at = now() - interval '90 days' * (1 - (n.number - 1) / (n.count::float8 + 1))
       from (select id, row_number() over (order by at, id) as number, count(*) over () as count from audit_records) n
      where n.id = r.id`,
  );
  await api.rows(
    `insert into audit_records (id, at, actor_id, actor_type, actor_name, credential_type, action, resource_type, resource_id,
                                organization_id, team_id, outcome, request_id, address, after)
     select e.id, e.created_at, e.actor_id, e.actor_type, e.actor_name, case e.actor_type when 'user' then 'session' else 'api_key' end,
            case e.type when 'run.admitted' then 'run.created' when 'run.reviewed' then 'run.reviewed' else 'run.cancel_requested' end,
            'runs', e.subject_id::text, e.organization_id, e.team_id, 'committed', gen_random_uuid()::text, '10.4.' || e.sequence || '.17',
            e.data - 'by'
       from domain_events e where e.type in ('run.admitted', 'run.reviewed', 'run.cancel_requested') and e.actor_type <> 'system'`,
  );
}
