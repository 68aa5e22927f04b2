import { createHash } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { Instance } from '#domain/instances/entity.ts';
import { lockInstance, maskOutputs, readState } from '#domain/instances/state.ts';
import { TemplateVersion } from '#domain/registry/entity.ts';
import type { TemplateFiles } from '#domain/registry/files.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';
import type { Isolation } from '#domain/workers/model.ts';
import type { Egress } from '#domain/workers/pools/egress.ts';
import { readEgress } from '#domain/workers/pools/store.ts';
import { demandsSandboxSql } from '#domain/workers/run-sql.ts';
import { openInputs, type RunInputs } from '../admission/inputs.ts';
import { Run, RunAttempt, RunPlan } from '../entity.ts';
import { AttemptSuperseded, WorkerTooWeak } from '../errors.ts';
import type { MaskedOutputs, NextStep, PlanSummary } from '../model.ts';
import { publishRunEvent } from '../publish-event.ts';
import { advanceRun } from '../steps/advance.ts';
import { closeAttempt, lockAttemptInOrder } from '../steps/transitions.ts';
import { checkResult } from './checks.ts';
import { noteUncontained } from './logs.ts';
import type { AttemptResult } from './writes.ts';

/** All that a worker needs for one attempt, opened. It stays in the worker and its executor. */
export interface AttemptWork {
  readonly run: Run;
  readonly attempt: RunAttempt;
  readonly spec: TemplateSpec;
  readonly files: TemplateFiles;
  readonly inputs: RunInputs;
  readonly state: Buffer | null;
  /** For an apply: what its plan left. */
  readonly artifact: Buffer | null;
  /** The executor's own digest of that plan. */
  readonly planDigest: string | null;
  /** What its template code may reach over the network. */
  readonly egress: Egress;
}

/** The worker that asks for an attempt, and what it would contain its template code with. */
export interface Claimant {
  readonly workerId: string;
  readonly isolation: Isolation;
}

const artifactContext = (runId: string): SealContext => ['plan-artifact', runId];
const outputsContext = (instanceId: string): SealContext => ['outputs', instanceId];

/**
 * Gives an attempt to a worker: once, so that nothing runs twice whatever the engine delivers again.
 * Null where the attempt is another worker's, has ended, or is no longer its run's.
 * @throws WorkerTooWeak where a sandbox is demanded by now and the worker has none; the attempt stays nobody's
 */
export function claimAttempt(
  em: Em,
  keyRing: KeyRing,
  attemptId: string,
  claimant: Claimant,
): Promise<AttemptWork | null> {
  return em.transactional((tx) => claim(tx, keyRing, attemptId, claimant));
}

async function claim(em: Em, keyRing: KeyRing, attemptId: string, claimant: Claimant): Promise<AttemptWork | null> {
  const runId = await takeAttempt(em, attemptId, claimant);
  if (runId === null) {
    if (await isClaimable(em, attemptId)) throw new WorkerTooWeak(attemptId);
    return null;
  }
  const run = await em.findOneOrFail(Run, { id: runId });
  const attempt = await em.findOneOrFail(RunAttempt, { id: attemptId });
  const version = await loadVersionById(em, run.templateVersionId);
  const { files } = await em.findOneOrFail(TemplateVersion, { id: run.templateVersionId }, { populate: ['files'] });
  const instance = await em.findOneOrFail(Instance, { id: run.instanceId });
  if (attempt.isolation === 'none') await noteUncontained(em, run, attempt);
  const plan = attempt.phase === 'applying' ? await em.findOneOrFail(RunPlan, { runId }) : null;
  return {
    ...{ run, attempt, spec: version.spec, files },
    inputs: openInputs(keyRing, runId, run.sealedInputs),
    state: instance.stateSerial > 0 ? await readState(em, keyRing, instance.id, instance.stateSerial) : null,
    artifact: plan?.artifact ? keyRing.open(artifactContext(runId), plan.artifact) : null,
    planDigest: plan?.executorDigest ?? null,
    egress: await readEgress(em, run.pool),
  };
}

const claimable = `a.worker_id is null and a.outcome is null and r.id = a.run_id and r.attempt_id = a.id and r.status = 'running'`;

/**
 * Takes an attempt in one statement, and answers its run's id. What the worker says of itself counts only where its row
 * says the same. A run shows the weakest isolation that it had.
 */
async function takeAttempt(em: Em, attemptId: string, { workerId, isolation }: Claimant): Promise<string | null> {
  const rows = await em.execute<{ run_id: string }[]>(
    `with asking as (
       select case when ? = 'sandbox' and exists (select 1 from workers where id = ? and isolation = 'sandbox')
              then 'sandbox' else 'none' end as isolation
     ), claimed as (
       update run_attempts a set worker_id = ?, started_at = clock_timestamp(), isolation = asking.isolation
         from runs r, asking
        where a.id = ? and ${claimable} and (asking.isolation = 'sandbox' or not ${demandsSandboxSql})
        returning a.run_id, a.isolation)
     update runs set waiting_on = null, revision = revision + 1,
        isolation = case when runs.isolation = 'none' then 'none' else claimed.isolation end
       from claimed where id = claimed.run_id returning id as run_id`,
    [isolation, workerId, workerId, attemptId],
  );
  return rows[0]?.run_id ?? null;
}

async function isClaimable(em: Em, attemptId: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>(`select 1 from run_attempts a, runs r where a.id = ? and ${claimable}`, [
    attemptId,
  ]);
  return rows.length > 0;
}

/**
 * Keeps the result of an attempt and answers its run, locked; repeating it is harmless. The run's status is moved by its
 * next step, not here.
 * @throws AttemptSuperseded where another attempt, or the run's end, came first
 * @throws AttemptWriteRefused where it is no result of its phase, or cannot be stored
 */
export async function completeAttempt(
  tx: Transaction,
  keyRing: KeyRing,
  attemptId: string,
  result: AttemptResult,
): Promise<Run> {
  const { run, attempt } = await lockLiveAttempt(tx, attemptId);
  if (attempt.outcome !== null && attempt.outcome !== undefined) return run;
  checkResult(run, attempt, result);
  closeAttempt(attempt, result.outcome);
  if (run.status === 'running' || result.reason === 'state_refused') run.statusReason = result.reason;
  run.tool = result.tool ?? run.tool ?? null;
  run.revision += 1;
  if (result.plan) await keepPlan(tx, keyRing, run, result.plan);
  if (result.outputs) await keepOutputs(tx, keyRing, run, result.outputs);
  if (result.outcome === 'applied') await noteDeployment(tx, run, result.resourceCount);
  await tx.em.flush();
  if (result.plan) publishPlanned(tx, run, result.plan.summary);
  return run;
}

/**
 * The same, together with the run's next step: the worker that made a plan goes on with its apply without waiting for the
 * workflow. The workflow asks for the next step again and gets the same answer.
 */
export async function concludeAttempt(
  tx: Transaction,
  keyRing: KeyRing,
  attemptId: string,
  result: AttemptResult,
): Promise<NextStep> {
  const run = await completeAttempt(tx, keyRing, attemptId, result);
  return advanceRun(tx, run, { executed: attemptId, canceled: false });
}

/**
 * Says that a worker gives an attempt up without a result: `lost`, as if the worker itself were; where it had not begun,
 * `handed_back` to whoever can, or `failed` where nobody could. Harmless where the attempt is over or another worker's.
 */
export async function abandonAttempt(
  tx: Transaction,
  attemptId: string,
  workerId: string,
  outcome: 'handed_back' | 'failed' | 'lost',
): Promise<void> {
  const { run, attempt } = await lockLiveAttempt(tx, attemptId);
  if ((attempt.workerId && attempt.workerId !== workerId) || (attempt.outcome ?? null) !== null) return;
  closeAttempt(attempt, outcome);
  if (outcome === 'failed' && run.status === 'running') run.statusReason = 'executor_failed';
  await tx.em.flush();
  if (outcome === 'lost') publishRunEvent(tx, run, 'run.attempt_lost', { phase: attempt.phase });
}

async function lockLiveAttempt(tx: Transaction, attemptId: string): Promise<{ run: Run; attempt: RunAttempt }> {
  const locked = await lockAttemptInOrder(tx.em, attemptId);
  if (locked.run.attemptId !== attemptId) throw new AttemptSuperseded(attemptId);
  return locked;
}

async function keepPlan(
  tx: Transaction,
  keyRing: KeyRing,
  run: Run,
  plan: NonNullable<AttemptResult['plan']>,
): Promise<void> {
  const instance = await tx.em.findOneOrFail(Instance, { id: run.instanceId });
  run.planDigest = digestOf(run, plan.executorDigest, instance.stateSerial);
  run.planSummary = plan.summary;
  instance.tool = run.tool?.name ?? instance.tool ?? null;
  const row = {
    digest: run.planDigest,
    changes: plan.changes,
    executorDigest: plan.executorDigest,
    artifact: keyRing.seal(artifactContext(run.id), plan.artifact),
    stateSerial: instance.stateSerial,
    createdAt: new Date(),
  };
  await tx.em.upsert(RunPlan, { runId: run.id, ...row });
}

function publishPlanned(tx: Transaction, run: Run, { add, change, destroy }: PlanSummary): void {
  publishRunEvent(tx, run, 'run.planned', { digest: run.planDigest ?? null, add, change, destroy });
}

/** What a review approves: this plan, from these inputs, on this state. */
function digestOf(run: Run, planDigest: string, stateSerial: number): string {
  const inputs = createHash('sha256').update(run.sealedInputs).digest('hex');
  const bound = canonicalJson([run.id, run.operation, run.templateVersionId, inputs, stateSerial, planDigest]);
  return `sha256:${createHash('sha256').update(bound).digest('hex')}`;
}

async function keepOutputs(tx: Transaction, keyRing: KeyRing, run: Run, outputs: MaskedOutputs): Promise<void> {
  const instance = await lockInstance(tx.em, run.instanceId);
  run.outputs = maskOutputs(outputs);
  instance.outputs = run.outputs;
  instance.sealedOutputs = keyRing.sealJson(outputsContext(instance.id), outputs);
}

/** A tool without state of its own holds one thing from its first apply until it is destroyed. */
async function noteDeployment(tx: Transaction, run: Run, resourceCount: number | undefined): Promise<void> {
  const instance = await lockInstance(tx.em, run.instanceId);
  instance.deployedRunId = run.id;
  instance.resourceCount = resourceCount ?? (run.operation === 'destroy' ? 0 : Math.max(1, instance.resourceCount));
}
