import { newId } from '#domain/shared/ids.ts';

/** Runs a statement with its values. */
export type Execute = (sql: string, values: unknown[]) => Promise<unknown>;

/** Gives an instance a monitor. */
export async function addMonitor(
  execute: Execute,
  { instance, team, environment }: { instance: string; team: string | null; environment: string | null },
): Promise<string> {
  const id = newId();
  await execute(
    `insert into drift_monitors (id, scope, team_id, environment_id, instance_id, schedule, created_at)
     values (?, 'instance', ?, ?, ?, '{"every": "PT6H"}', now())`,
    [id, team, environment, instance],
  );
  return id;
}

/** Makes a run a scan of a monitor that nothing has recorded yet. */
export async function addScan(
  execute: Execute,
  { run, monitor, at = new Date().toISOString() }: { run: string; monitor: string; at?: string },
): Promise<void> {
  await execute(
    `insert into drift_scans (run_id, monitor_id, trigger, deployed_run_id, created_at)
     select ?, m.id, 'schedule', i.deployed_run_id, ? from drift_monitors m join instances i on i.id = m.instance_id where m.id = ?`,
    [run, at, monitor],
  );
}

/** Gives a monitor an open finding with one piece of evidence, as if `run` had been the scan that saw it. */
export async function addFinding(
  execute: Execute,
  { monitor, instance, team, run }: { monitor: string; instance: string; team: string | null; run: string },
): Promise<{ finding: string; evidence: string }> {
  const [finding, evidence] = [newId(), newId()];
  await execute(
    `insert into drift_findings (id, monitor_id, team_id, instance_id, identity, address, path, status, reason, first_seen_at, last_seen_at,
       seen_count, observed, evidence_id, last_run_id, created_at)
     values (?, ?, ?, ?, ?, 'local_file.greeting', 'content', 'open', 'observed', now(), now(), 1, 'sha256:0', ?, ?, now())`,
    [finding, monitor, team, instance, `sha256:${finding}`, evidence, run],
  );
  await execute(
    `insert into drift_evidence (id, finding_id, run_id, "before", "after", sensitive, action, observed, state_serial, deployed_run_id,
       template_version, observed_at)
     values (?, ?, ?, '"Hello"', '"Goodbye"', false, 'update', 'sha256:0', 1, ?, '1.0.0', now())`,
    [evidence, finding, run, run],
  );
  return { finding, evidence };
}

/** Makes a run the deployment of its instance, as if it had applied one resource. */
export async function deploy(execute: Execute, { run, instance }: { run: string; instance: string }): Promise<void> {
  await execute(
    `update runs set status = 'succeeded', phase = 'finished', waiting_on = null, finished_at = now() where id = ?`,
    [run],
  );
  await execute('update instances set resource_count = 1, state_serial = 1, deployed_run_id = ? where id = ?', [
    run,
    instance,
  ]);
}
