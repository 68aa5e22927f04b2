import { readUntil } from '#test/support/read-until.ts';
import { checkLeftovers } from './harness/checks.ts';
import { killBeforeRecording } from './harness/held-recording.ts';
import type { Installation } from './harness/installation.ts';
import { awaitEnd, deployInstances, Scanner } from './harness/scanned-instances.ts';

export interface ScansReport {
  readonly scans: number;
  readonly ends: Readonly<Record<string, number>>;
  readonly lostAttempts: number;
  readonly finishedAfterSeconds: number;
}

const lookSeconds = 3;
const endWithinMs = 240_000;

/**
 * Scans instances while a worker, Temporal and PostgreSQL are killed, and while a run begins to change one of them. Every scan must end, as
 * succeeded or because it gave way, and must leave the instance as it was.
 */
export async function disruptScans(
  installation: Installation,
  { instances: count }: { instances: number },
): Promise<ScansReport> {
  const { requester, workers, temporal, postgres } = installation;
  const deployed = await deployInstances(installation, { count, lookSeconds });
  const scanner = new Scanner(installation);
  try {
    const scanAll = () => Promise.all(deployed.map(({ id }) => scanner.scan(id)));
    await scanAll();
    await awaitLooking(installation);
    await workers[0]?.kill('SIGKILL');
    await workers[0]?.start();
    await scanAll();
    await awaitLooking(installation);
    await temporal.kill();
    await temporal.start();
    await scanAll();
    await awaitLooking(installation);
    const [{ templateId, instance } = { templateId: '', instance: '' }] = deployed;
    const writer = await requester.call('POST', '/runs', { template_id: templateId, instance });
    await postgres.kill();
    await postgres.start();
    const disruptedAt = Date.now();
    await awaitIdle(installation);
    if ((await awaitEnd(installation, writer.id)).status !== 'succeeded')
      installation.violations.push('the run to which scans gave way did not succeed');
    await killBeforeRecording(installation, deployed.at(-1)?.id ?? '');
    await awaitIdle(installation);
    return {
      ...(await check(installation, scanner)),
      finishedAfterSeconds: Math.round((Date.now() - disruptedAt) / 1000),
    };
  } finally {
    await scanner.close();
  }
}

/** Waits until a worker executes a scan. */
async function awaitLooking({ query }: Installation): Promise<void> {
  const looking = `select 1 from runs r join run_attempts a on a.id = r.attempt_id
    where r.operation = 'scan' and a.worker_id is not null and a.outcome is null`;
  await readUntil(
    () => query(looking),
    (rows) => rows.length > 0,
    30_000,
  );
}

async function awaitIdle({ query, violations }: Installation): Promise<void> {
  const read = () =>
    query<{ id: string }>(
      `select id::text from runs where finished_at is null union all select id::text from outbox limit 5`,
    );
  const rows = await readUntil(read, ({ length }) => length === 0, endWithinMs);
  if (rows.length > 0)
    violations.push(`after ${endWithinMs / 1000} s there is still work to do: ${rows.map(({ id }) => id).join(', ')}`);
}

/** What must not be there once everything has ended. */
const emptyQueries: Readonly<Record<string, string>> = {
  'scans that ended otherwise than as succeeded or because they gave way': `select id::text from runs where operation = 'scan' and status <> 'succeeded' and (status, status_reason) is distinct from ('canceled', 'gave_way')`,
  'scans that succeeded without a result': `select id::text from runs r where operation = 'scan' and status = 'succeeded' and not exists (select from run_plans p where p.run_id = r.id)`,
  'states that scans stored': `select v.run_id::text as id from state_versions v join runs r on r.id = v.run_id where r.operation = 'scan'`,
  'artifacts of scans': `select p.run_id::text as id from run_plans p join runs r on r.id = p.run_id where r.operation = 'scan' and p.artifact is not null`,
  'instances whose last deployment is a scan': `select i.id::text from instances i join runs r on r.id = i.deployed_run_id where r.operation = 'scan'`,
  'slots that are held': `select run_id::text as id from instance_slots`,
  'open attempts': `select id::text from run_attempts where outcome is null`,
  'runs without exactly one end in their story': `select r.id::text from runs r where (select count(*) from domain_events e where e.subject_kind = 'run' and e.subject_id = r.id and e.type = 'run.finished') <> 1`,
};

async function check(installation: Installation, { keys }: Scanner) {
  const { query, violations } = installation;
  for (const [what, sql] of Object.entries(emptyQueries)) {
    const rows = await query<{ id: string }>(sql);
    if (rows.length > 0)
      violations.push(
        `${rows.length} ${what}: ${rows
          .slice(0, 5)
          .map(({ id }) => id)
          .join(', ')}`,
      );
  }
  const ends = await query<{ how: string; scans: number; lost: number }>(
    `select concat_ws(' ', status, status_reason) as how, count(*)::int as scans,
            (sum((select count(*) from run_attempts a where a.run_id = r.id and a.outcome = 'lost')))::int as lost
       from runs r where idempotency_key = any($1::uuid[]) group by 1`,
    [keys],
  );
  const scans = ends.reduce((sum, end) => sum + end.scans, 0);
  if (scans !== keys.length) violations.push(`${keys.length} scans were admitted, and there are ${scans}`);
  checkLeftovers(installation);
  return {
    scans,
    ends: Object.fromEntries(ends.map((end) => [end.how, end.scans])),
    lostAttempts: ends.reduce((sum, { lost }) => sum + lost, 0),
  };
}
