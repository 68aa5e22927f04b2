import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from './installation.ts';
import type { Admission, Load } from './load.ts';
import { printedLines } from './templates.ts';

interface RunRow {
  id: string;
  idempotency_key: string;
  status: string;
  status_reason: string | null;
  finished: boolean;
  attempt_id: string | null;
  applied: number;
  lost_applies: number;
}

/** Everything that must hold once nothing is left to do. What does not is put among the installation's faults. */
export async function checkAll(installation: Installation, load: Load, deeds: string): Promise<void> {
  const runs = await readRuns(installation);
  await checkAdmissions(installation, load.admissions, runs);
  await checkWorkflows(installation, runs);
  checkDeeds(installation, load, runs, deeds);
  await checkRows(installation);
  checkLeftovers(installation);
  await checkLogs(installation, load, runs);
}

function readRuns(installation: Installation): Promise<RunRow[]> {
  return installation.query<RunRow>(
    `select r.id, r.idempotency_key, r.status, r.status_reason, r.finished_at is not null as finished, r.attempt_id,
            (select count(*)::int from run_attempts a where a.run_id = r.id and a.phase = 'applying' and a.worker_id is not null) as applied,
            (select count(*)::int from run_attempts a where a.run_id = r.id and a.phase = 'applying' and a.outcome = 'lost') as lost_applies
       from runs r`,
  );
}

/** Each 202 has one run, and the same key still answers it; nothing else has one. */
async function checkAdmissions({ faults, requester }: Installation, admissions: readonly Admission[], runs: RunRow[]) {
  const byKey = new Map(runs.map((run) => [run.idempotency_key, run]));
  for (const { key, runId } of admissions) {
    const run = byKey.get(key);
    if (!run) faults.push(`${key} was answered 202, and there is no run of it`);
    else if (run.id !== runId) faults.push(`${key} was answered with the run ${runId}, and there is ${run.id}`);
    else if (!run.finished || run.attempt_id !== null) faults.push(`the run ${run.id} has not ended: ${run.status}`);
  }
  if (runs.length !== admissions.length)
    faults.push(`${admissions.length} runs were asked for, there are ${runs.length}`);
  await Promise.all(
    admissions.slice(-30).map(async ({ key, body, runId }) => {
      const repeated = await requester.insist('POST', '/runs', body, { 'idempotency-key': key });
      if (repeated.status !== 202 || repeated.body.id !== runId)
        faults.push(`the key ${key} answers ${repeated.status} ${repeated.body?.id}, and answered 202 ${runId}`);
    }),
  );
}

/** One workflow for each run, named by its key, ended; and no other. */
async function checkWorkflows({ faults, askEngine }: Installation, runs: RunRow[]): Promise<void> {
  const described = await askEngine(async ({ workflow }) => {
    const found: [string, { status: string; runId: unknown }][] = [];
    for (const { idempotency_key: key } of runs.slice(-150)) {
      const description = await workflow
        .getHandle(key)
        .describe()
        .catch(() => undefined);
      if (description) found.push([key, { status: description.status.name, runId: description.memo?.['run_id'] }]);
    }
    const listed = new Set<string>();
    for await (const { workflowId } of workflow.list({ query: `WorkflowType = 'run'` })) listed.add(workflowId);
    return { found: new Map(found), listed };
  });
  for (const run of runs.slice(-150)) {
    const found = described.found.get(run.idempotency_key);
    if (!found) faults.push(`the run ${run.id} has no workflow`);
    else if (found.runId !== run.id) faults.push(`the workflow of ${run.id} is of the run ${found.runId}`);
    else if (found.status !== 'COMPLETED') faults.push(`the workflow of ${run.id} is ${found.status}`);
  }
  const keys = new Set(runs.map((run) => run.idempotency_key));
  for (const id of described.listed) if (!keys.has(id)) faults.push(`there is a workflow ${id} without a run`);
}

/** Of the runs that nothing excuses: how many the engine had taken for lost while their worker went on. */
export async function countOutlasted({ askEngine }: Installation, { mustSucceed }: Load): Promise<number> {
  return askEngine(async ({ workflow }) => {
    let outlasted = 0;
    for (const key of mustSucceed) {
      const { events } = await workflow.getHandle(key).fetchHistory();
      if (events?.some(({ activityTaskTimedOutEventAttributes }) => activityTaskTimedOutEventAttributes))
        outlasted += 1;
    }
    return outlasted;
  });
}

/** What an apply leaves outside shows how often it began: never twice, but where its template allows that. */
function checkDeeds({ faults }: Installation, { admissions, mustSucceed }: Load, runs: RunRow[], deeds: string): void {
  const counts = new Map<string, number>();
  for (const mark of readFileSync(deeds, 'utf8').split('\n')) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const kinds = new Map(admissions.map(({ key, kind }) => [key, kind]));
  for (const run of runs) {
    const begun = counts.get(run.idempotency_key) ?? 0;
    const name = `the apply of ${run.id} (${kinds.get(run.idempotency_key)?.name}, ${run.status} ${run.status_reason})`;
    const most = kinds.get(run.idempotency_key)?.retrySafe ? run.applied : Math.min(1, run.applied);
    if (begun > most) faults.push(`${name} began ${begun} times in ${run.applied} attempts`);
    if (mustSucceed.has(run.idempotency_key) && run.status !== 'succeeded')
      faults.push(`${name} was not to be cut off`);
    if (run.status === 'succeeded' && begun === 0) faults.push(`${name} never began`);
    if (
      run.status === 'failed' &&
      run.status_reason !== 'apply_interrupted' &&
      run.status_reason !== 'plan_interrupted'
    )
      faults.push(`${name} failed for another reason than a fault`);
    if (run.status_reason === 'apply_interrupted' && run.applied === 0)
      faults.push(`${name} was never given to a worker`);
    if (!['succeeded', 'failed'].includes(run.status)) faults.push(`${name} ended as nobody asked it to`);
  }
}

const emptyQueries: Record<string, string> = {
  'messages in the outbox': `select id::text from outbox`,
  'slots without an unfinished run': `select s.instance_id::text as id from instance_slots s join runs r on r.id = s.run_id where r.finished_at is not null`,
  'open attempts of ended runs': `select a.id::text from run_attempts a join runs r on r.id = a.run_id where r.finished_at is not null and a.outcome is null`,
  'instances whose serial is not that of their last state': `select i.id::text from instances i where i.state_serial <> coalesce((select max(serial) from state_versions v where v.instance_id = i.id), 0)`,
  'instances with a gap in their states': `select v.instance_id::text as id from state_versions v group by v.instance_id having count(*) <> max(serial)`,
  'keys without exactly one run': `select c.key::text as id from command_receipts c where c.operation = 'runs.create' and (select count(*) from runs r where r.idempotency_key = c.key) <> 1`,
  'runs without exactly one end in their events': `select r.id::text from runs r where (select count(*) from domain_events e where e.subject_id = r.id and e.type = 'run.finished') <> 1`,
  'runs without exactly one audit record': `select r.id::text from runs r where (select count(*) from audit_records a where a.resource_id = r.id::text and a.action = 'run.created') <> 1`,
  'artifacts of ended runs': `select p.run_id::text as id from run_plans p join runs r on r.id = p.run_id where r.finished_at is not null and p.artifact is not null`,
};

async function checkRows({ faults, query }: Installation): Promise<void> {
  for (const [what, sql] of Object.entries(emptyQueries)) {
    const rows = await query<{ id: string }>(sql);
    if (rows.length > 0)
      faults.push(
        `${rows.length} ${what}: ${rows
          .slice(0, 5)
          .map(({ id }) => id)
          .join(', ')}`,
      );
  }
}

/** No sandbox of an attempt, no directory of one, and no state that the database has not taken. */
function checkLeftovers({ faults, dataDir }: Installation): void {
  const work = join(dataDir, 'work');
  for (const pid of findSandboxes(work)) faults.push(`the process ${pid} of an attempt still lives`);
  const list = (path: string) => (existsSync(path) ? readdirSync(path) : []);
  for (const host of list(work).filter((name) => name.startsWith('host-'))) {
    const attempts = list(join(work, host)).filter((name) => name.startsWith('attempt-'));
    for (const name of attempts) faults.push(`the directory of an attempt is left: ${host}/${name}`);
  }
  for (const name of list(join(dataDir, 'spool'))) faults.push(`a state is left in the spool: ${name}`);
}

/** A sandbox's launcher and its init name the attempt's directory among their arguments. */
function findSandboxes(work: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    try {
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      return commandLine.includes(`${work}/host-`) && commandLine.includes('/attempt-');
    } catch {
      return false; // it has ended
    }
  });
}

/** Logs begin with what was read of them before; those of runs that went through are whole. */
async function checkLogs({ faults }: Installation, load: Load, runs: RunRow[]): Promise<void> {
  const kinds = new Map(load.admissions.map(({ key, kind }) => [key, kind]));
  for (const run of runs.slice(-60)) {
    const text = await load.logs.readWhole(run.id);
    if (kinds.get(run.idempotency_key)?.name === 'infrastructure') continue;
    const numbers = (phase: string) =>
      [...text.matchAll(new RegExp(`^${phase} line (\\d+)$`, 'gm'))].map(([, n]) => Number(n));
    const applied = numbers('apply');
    const restarts = applied.filter((n) => n === 1).length;
    const isCounted = applied.every((n, index) => n === 1 || n === (applied[index - 1] ?? 0) + 1);
    if (!isCounted) faults.push(`the log of ${run.id} has its lines out of order: ${applied.join(' ')}`);
    if (restarts > run.applied) faults.push(`the log of ${run.id} shows more applies than there were`);
    if (run.status === 'succeeded' && applied.at(-1) !== printedLines)
      faults.push(`the log of ${run.id}, which succeeded, ends with line ${applied.at(-1)}`);
  }
}
