import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowClient } from '@temporalio/client';
import { readUntil } from '#test/support/read-until.ts';
import type { Installation } from './installation.ts';
import type { Admission, Load } from './load.ts';
import { printedLines } from './templates.ts';

/** A workflow whose run has ended closes within this. */
const closesWithinMs = 60_000;

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

/** Checks everything that must hold once the installation is idle, and adds what does not to its violations. */
export async function checkInvariants(installation: Installation, load: Load, recordedApplies: string): Promise<void> {
  const runs = await readRuns(installation);
  await checkAdmissions(installation, load.admissions, runs);
  await checkWorkflows(installation, runs);
  checkApplies(installation, load, runs, recordedApplies);
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

/** Each admission that answered 202 has exactly one run, its key still answers that run, and there are no other runs. */
async function checkAdmissions(
  { violations, requester }: Installation,
  admissions: readonly Admission[],
  runs: RunRow[],
) {
  const byKey = new Map(runs.map((run) => [run.idempotency_key, run]));
  for (const { key, runId } of admissions) {
    const run = byKey.get(key);
    if (!run) violations.push(`the admission ${key} answered 202, but it has no run`);
    else if (run.id !== runId)
      violations.push(`the admission ${key} answered with run ${runId}, but its run is ${run.id}`);
    else if (!run.finished || run.attempt_id !== null) violations.push(`run ${run.id} has not ended: ${run.status}`);
  }
  if (runs.length !== admissions.length)
    violations.push(`there are ${runs.length} runs for ${admissions.length} admissions`);
  await Promise.all(
    admissions.slice(-30).map(async ({ key, body, runId }) => {
      const repeated = await requester.sendWithRetries('POST', '/runs', body, { 'idempotency-key': key });
      if (repeated.status !== 202 || repeated.body.id !== runId)
        violations.push(
          `repeating the admission ${key} answered ${repeated.status} ${repeated.body?.id} instead of 202 ${runId}`,
        );
    }),
  );
}

/** Each run has exactly one completed workflow, whose id is the run's key, and there are no other workflows. */
async function checkWorkflows({ violations, askEngine }: Installation, runs: RunRow[]): Promise<void> {
  const described = await askEngine(async ({ workflow }) => {
    const found: [string, { status: string; runId: unknown }][] = [];
    for (const { idempotency_key: key } of runs.slice(-150)) {
      const description = await describeClosed(workflow, key);
      if (description) found.push([key, { status: description.status.name, runId: description.memo?.['run_id'] }]);
    }
    const listed = new Set<string>();
    for await (const { workflowId } of workflow.list({ query: `WorkflowType = 'run'` })) listed.add(workflowId);
    return { found: new Map(found), listed };
  });
  for (const run of runs.slice(-150)) {
    const found = described.found.get(run.idempotency_key);
    if (!found) violations.push(`run ${run.id} has no workflow`);
    else if (found.runId !== run.id) violations.push(`the workflow of run ${run.id} belongs to run ${found.runId}`);
    else if (found.status !== 'COMPLETED') violations.push(`the workflow of run ${run.id} is ${found.status}`);
  }
  const keys = new Set(runs.map((run) => run.idempotency_key));
  for (const id of described.listed) if (!keys.has(id)) violations.push(`workflow ${id} has no run`);
}

/**
 * The workflow, once it has closed or has had time to. The last step of one whose worker was killed waits ten seconds for that worker, and is then given to
 * another. Undefined if there is none.
 */
async function describeClosed(workflow: WorkflowClient, key: string) {
  const describe = () =>
    workflow
      .getHandle(key)
      .describe()
      .catch(() => undefined);
  return readUntil(describe, (description) => description?.status.name !== 'RUNNING', closesWithinMs);
}

/** Counts the runs that had to succeed although an activity of theirs timed out while its worker continued. */
export async function countOutlastedTimeouts({ askEngine }: Installation, { mustSucceed }: Load): Promise<number> {
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

/** The recorded applies show how often each one began: at most once, unless its template is retry-safe. */
function checkApplies(
  { violations }: Installation,
  { admissions, mustSucceed }: Load,
  runs: RunRow[],
  recordedApplies: string,
): void {
  const counts = new Map<string, number>();
  for (const mark of readFileSync(recordedApplies, 'utf8').split('\n')) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const kinds = new Map(admissions.map(({ key, kind }) => [key, kind]));
  for (const run of runs) {
    const begun = counts.get(run.idempotency_key) ?? 0;
    const name = `the apply of run ${run.id} (${kinds.get(run.idempotency_key)?.name}, ${run.status} ${run.status_reason})`;
    const max = kinds.get(run.idempotency_key)?.retrySafe ? run.applied : Math.min(1, run.applied);
    if (begun > max) violations.push(`${name} began ${begun} times in ${run.applied} attempts`);
    if (mustSucceed.has(run.idempotency_key) && run.status !== 'succeeded')
      violations.push(`${name} should have succeeded`);
    if (run.status === 'succeeded' && begun === 0) violations.push(`${name} never began`);
    if (
      run.status === 'failed' &&
      run.status_reason !== 'apply_interrupted' &&
      run.status_reason !== 'plan_interrupted'
    )
      violations.push(`${name} failed for a reason that no disruption explains`);
    if (run.status_reason === 'apply_interrupted' && run.applied === 0)
      violations.push(`${name} was interrupted without having had a worker`);
    if (!['succeeded', 'failed'].includes(run.status)) violations.push(`${name} ended with an unexpected status`);
  }
}

const emptyQueries: Record<string, string> = {
  'messages in the outbox': `select id::text from outbox`,
  'slots held by finished runs': `select s.instance_id::text as id from instance_slots s join runs r on r.id = s.run_id where r.finished_at is not null`,
  'open attempts of finished runs': `select a.id::text from run_attempts a join runs r on r.id = a.run_id where r.finished_at is not null and a.outcome is null`,
  'instances whose serial differs from their last state': `select i.id::text from instances i where i.state_serial <> coalesce((select max(serial) from state_versions v where v.instance_id = i.id), 0)`,
  'instances with a gap in their state serials': `select v.instance_id::text as id from state_versions v group by v.instance_id having count(*) <> max(serial)`,
  'receipts without exactly one run': `select c.key::text as id from command_receipts c where c.operation = 'runs.create' and (select count(*) from runs r where r.idempotency_key = c.key) <> 1`,
  'runs without exactly one run.finished event': `select r.id::text from runs r where (select count(*) from domain_events e where e.subject_kind = 'run' and e.subject_id = r.id and e.type = 'run.finished') <> 1`,
  'runs without exactly one run.created audit record': `select r.id::text from runs r where (select count(*) from audit_records a where a.resource_id = r.id::text and a.action = 'run.created') <> 1`,
  'plan artifacts of finished runs': `select p.run_id::text as id from run_plans p join runs r on r.id = p.run_id where r.finished_at is not null and p.artifact is not null`,
};

async function checkRows({ violations, query }: Installation): Promise<void> {
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
}

/** No sandbox and no directory of an attempt is left, and no state that is not in the database. */
export function checkLeftovers({ violations, dataDir }: Installation): void {
  const work = join(dataDir, 'work');
  for (const pid of findSandboxes(work)) violations.push(`process ${pid} of an attempt is still running`);
  const list = (path: string) => (existsSync(path) ? readdirSync(path) : []);
  for (const host of list(work).filter((name) => name.startsWith('host-'))) {
    const attempts = list(join(work, host)).filter((name) => name.startsWith('attempt-'));
    for (const name of attempts) violations.push(`the directory of an attempt was not removed: ${host}/${name}`);
  }
  for (const name of list(join(dataDir, 'spool'))) violations.push(`a state is still in the spool: ${name}`);
}

/** Finds processes of sandboxes: their launcher and init have the attempt's directory among their arguments. */
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

/** Each log begins with what was read of it before, and the log of a run that succeeded is complete. */
async function checkLogs({ violations }: Installation, load: Load, runs: RunRow[]): Promise<void> {
  const kinds = new Map(load.admissions.map(({ key, kind }) => [key, kind]));
  for (const run of runs.slice(-60)) {
    const text = await load.logs.readWhole(run.id);
    if (kinds.get(run.idempotency_key)?.name === 'infrastructure') continue;
    const numbers = (phase: string) =>
      [...text.matchAll(new RegExp(`^${phase} line (\\d+)$`, 'gm'))].map(([, n]) => Number(n));
    const applied = numbers('apply');
    const restarts = applied.filter((n) => n === 1).length;
    const isCounted = applied.every((n, index) => n === 1 || n === (applied[index - 1] ?? 0) + 1);
    if (!isCounted) violations.push(`the log of run ${run.id} has lines out of order: ${applied.join(' ')}`);
    if (restarts > run.applied) violations.push(`the log of run ${run.id} shows more applies than attempts`);
    if (run.status === 'succeeded' && applied.at(-1) !== printedLines)
      violations.push(`the log of run ${run.id}, which succeeded, ends with line ${applied.at(-1)}`);
  }
}
