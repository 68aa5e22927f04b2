import pg from 'pg';
import { readUntil } from '#test/support/read-until.ts';
import type { Installation } from './installation.ts';

const waitMs = 90_000;

/**
 * Kills all workers between the end of a scan and the recording of its result, which waits for a lock of ours meanwhile. The result must be
 * recorded afterwards, once.
 */
export async function killBeforeRecording(installation: Installation, instanceId: string): Promise<void> {
  const { requester, workers, postgres, query, violations } = installation;
  const wanted = { instance_id: instanceId, schedule: { every: 'P1D' } };
  const { id: monitor } = await requester.call('POST', '/drift-monitors', wanted);
  await requester.call('POST', `/drift-monitors/${monitor}/scan`);
  const holder = new pg.Client(postgres.address);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select id from drift_monitors where id = $1 for update', [monitor]);
    const ended = `select 1 from drift_scans s join runs r on r.id = s.run_id
      where s.monitor_id = $1 and r.finished_at is not null and s.recorded_at is null`;
    await until('the scan ends', async () => (await query(ended, [monitor])).length > 0);
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%drift_monitors%'`;
    await until('a worker waits to record the scan', async () => (await query(waiting)).length > 0);
    await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
    await holder.query('rollback');
  } finally {
    await holder.end();
  }
  await Promise.all(workers.map((worker) => worker.start()));
  const recorded = 'select recorded_at from drift_scans where monitor_id = $1 and recorded_at is not null';
  await until('the scan is recorded', async () => (await query(recorded, [monitor])).length > 0);
  const events = await query<{ count: number }>(
    `select count(*)::int from domain_events where subject_id = $1 and type = 'drift_monitor.scanned'`,
    [monitor],
  );
  if (events[0]?.count !== 1) violations.push(`one scan of a monitor was recorded ${events[0]?.count} times`);
  const { last_success_at: success } = await requester.call('GET', `/drift-monitors/${monitor}`);
  if (!success) violations.push('a monitor whose scan succeeded while its workers were killed shows no success');
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  if (!(await readUntil(holds, Boolean, waitMs)))
    throw new Error(`it did not happen within ${waitMs / 1000} s that ${what}`);
}
