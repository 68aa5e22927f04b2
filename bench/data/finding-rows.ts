import type pg from 'pg';

/** How many findings a monitor has. */
const perMonitor = 100;

/**
 * Inserts this many findings of instances of a team, each with one piece of evidence, 100 for each monitor, with ids in the order of their times. 1 in 20 is open,
 * 1 in 100 suppressed, and the others are resolved. Returns an id of the middle.
 */
export async function insertFindings(
  database: pg.Pool,
  { runId, count }: { readonly runId: string; readonly count: number },
): Promise<{ monitorId: string; middleId: string }> {
  const idOf = (kind: string) =>
    `(lpad(to_hex((1767225600000 + n * 10)::bigint), 12, '0') || '7' || substr(md5('${kind} ' || n), 1, 3) || 'a' || substr(md5('${kind} ' || n), 4, 15))::uuid`;
  await database.query(
    `insert into drift_monitors (id, scope, team_id, environment_id, instance_id, schedule, created_at)
     select ${idOf('monitor')}, 'instance', r.team_id, r.environment_id, md5('instance ' || n)::uuid, '{"every": "PT6H"}', now()
       from runs r, generate_series(0, ${count / perMonitor - 1}) n where r.id = $1`,
    [runId],
  );
  await database.query(
    `insert into drift_findings (id, monitor_id, team_id, instance_id, identity, address, path, status, reason, first_seen_at, last_seen_at, seen_count,
        observed, evidence_id, last_run_id, created_at)
     select ${idOf('finding')}, m.id, m.team_id, m.instance_id, 'sha256:' || n, 'aws_subnet.private[' || n || ']', 'tags.owner',
            case when n % 20 = 0 then 'open' when n % 100 = 1 then 'suppressed' else 'resolved' end, 'observed', now(), now(), 3, 'sha256:0',
            ${idOf('evidence')}, $1, now()
       from generate_series(0, ${count - 1}) n
       join (select id, team_id, instance_id, row_number() over (order by id) - 1 as place from drift_monitors) m on m.place = n / ${perMonitor}`,
    [runId],
  );
  await database.query(
    `insert into drift_evidence (id, finding_id, run_id, "before", "after", sensitive, action, observed, state_serial, template_version, observed_at)
     select evidence_id, id, last_run_id, '"platform"', '"ada"', false, 'update', observed, 1, '1.0.0', now() from drift_findings`,
  );
  for (const table of ['drift_monitors', 'drift_findings', 'drift_evidence'])
    await database.query(`vacuum analyze ${table}`);
  const { rows } = await database.query<{ id: string; monitor_id: string }>(
    'select id, monitor_id from drift_findings order by id offset $1 limit 1',
    [Math.floor(count / 2)],
  );
  return { monitorId: rows[0]?.monitor_id ?? '', middleId: rows[0]?.id ?? '' };
}
