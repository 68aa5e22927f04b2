import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { changeTemplate } from '#domain/instances/store.ts';
import { type Added, takeQuota } from '#domain/quotas/use/take.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { settledValue } from '#domain/shared/tasks/settled.ts';
import { toPolicyFields } from '#domain/shared/vocabulary/approval.ts';
import type { Isolation } from '#domain/workers/model.ts';
import { activityTimeoutSeconds } from '../attempts/limits.ts';
import type { RunDetails } from '../details-store.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { type Beginning, poolQueue, priorityOf, type ReviewNeed, type RunAuthor, runWorkflow } from '../model.ts';
import { queueRun } from './queued-instance.ts';
import { findClosedPoolRefusal, findOccupiedRefusal } from './rules.ts';
import type { ResolvedRun } from './run-request.ts';
import { insertRun, type NewRunRow } from './store.ts';
import type { AdmissionTarget } from './target.ts';

/**
 * Why a run is admitted, if it was not requested for itself: for example as a node of an assembly, or to resolve drift. The caller that
 * admits the run sets it. The domain of runs applies it, and does not depend on who set it. An approval that it demands beyond the policies
 * is part of the request (`RunRequest.approval`).
 */
export interface RunOrigin {
  /** The rows for which the run is admitted. */
  readonly links?: RunLinks;
  /** The workflow that is woken whenever the run's status changes. */
  readonly parentWorkflowId?: string;
  /** The people who are responsible for the run besides its requester. */
  readonly authors?: readonly RunAuthor[];
  /** The permissions that reviewing the run requires instead of `run:approve`. A run that repeats it needs the same. */
  readonly reviewNeeds?: readonly ReviewNeed[];
  /**
   * The state of the instance for which the run was requested. The run fails with `stale` if the instance has changed before the run begins
   * or applies. A function gets the resolved run and decides by it.
   */
  readonly expects?: RunPin | ((run: ResolvedRun) => RunPin | undefined);
}

/** The state and the deployment that an instance had when somebody decided what a run does to it. */
export interface RunPin {
  readonly stateSerial: number;
  /**
   * The run by which it was deployed. A command template has no state, so the serial alone does not show that another run has deployed it.
   */
  readonly deployedRunId: string;
  /** The run whose plan somebody has accepted: the new run fails with `stale` if its own plan changes anything else. */
  readonly planRunId?: string;
}

export interface RunLinks {
  readonly assemblyRunId?: string;
  readonly assemblyNodeId?: string;
  readonly driftFindingId?: string;
  readonly driftMonitorId?: string;
  readonly undoes?: string;
  readonly startedByRunId?: string | undefined;
}

/** A run that is admitted once the transaction has committed. */
export interface AdmittedRun {
  readonly id: string;
  readonly teamId: string | null;
  readonly revision: number;
  /** The run as it was admitted. */
  readonly details: RunDetails;
}

/**
 * Admits a run: it gets its position in the queue of its instance, and its workflow is started under the command's key after
 * the commit. The caller has locked the rows of `target`.
 * @throws ActionRefused if the target is archived, the instance belongs to another template, or the pool is closed
 */
export async function admitRun(
  tx: Transaction,
  key: string,
  target: AdmissionTarget,
  { instance, resolve }: { instance: string; resolve: () => Promise<ResolvedRun> },
  requester: Principal,
  origin: RunOrigin = {},
): Promise<AdmittedRun> {
  refuseArchived(target);
  // Both end before a refusal of one rolls the transaction back, so that no statement of the other follows the rollback.
  // The queue comes first: the run is resolved by what its statement reads.
  const queueing = enqueue(tx.em, target, instance);
  const settled = await Promise.allSettled([resolve(), queueing]);
  const [run, queued] = [settledValue(settled[0]), settledValue(settled[1])];
  const inserted = insert(tx, {
    ...describeWork(run),
    ...describeOwner(target),
    ...describeRequester(requester),
    ...describeOrigin(origin, run),
    idempotencyKey: key,
    status: 'queued',
    phase: 'queued',
    waitingOn: json({ code: 'engine', since: new Date().toISOString(), position: null, blocker: null }),
    instanceId: queued.id,
    instance,
    instancePosition: queued.position,
    outputs: json({}),
    createdAt: new Date(),
  });
  const checks = await Promise.allSettled([
    inserted.then(({ poolAccess: access }) =>
      throwIfRefused(findClosedPoolRefusal({ name: run.pool, access }, target)),
    ),
    takeQuota(tx, target, addedBy(run, queued)),
  ]);
  for (const check of checks) settledValue(check);
  const { details, freeIsolation } = await inserted;
  const { id, operation } = run;
  const begin = freeIsolation && describeBeginning(run, freeIsolation);
  publishRunEvent(tx, { id, teamId: target.teamId }, 'run.admitted', { by: requester.name, operation });
  tx.notifyEngine(key, { kind: 'start', workflow: runWorkflow, input: { run_id: id, ...(begin && { begin }) } });
  return { id, teamId: target.teamId, revision: 1, details };
}

function describeBeginning(run: ResolvedRun, isolation: Isolation): Beginning {
  return {
    queue: poolQueue(run.pool, isolation),
    timeout_seconds: activityTimeoutSeconds(run, 'planning'),
    priority: priorityOf(run.operation, 'planning'),
  };
}

/** What a run adds to the use of quotas. A scan does not count as a run, but its log takes space. */
function addedBy({ operation }: ResolvedRun, { isNew }: { isNew: boolean }): Added {
  const instances = isNew ? { instances: 1 } : {};
  if (operation === 'scan') return { ...instances, log_bytes: 0 };
  const added = { ...instances, queued_runs: 1, runs_per_day: 1, log_bytes: 0 };
  // A destroy frees space, so it is not refused for the size of states.
  return operation === 'apply' || operation === 'refresh' ? { ...added, state_bytes: 0 } : added;
}

function describeOrigin(
  { links, parentWorkflowId, authors = [], reviewNeeds = [], ...origin }: RunOrigin,
  run: ResolvedRun,
) {
  const expects = typeof origin.expects === 'function' ? origin.expects(run) : origin.expects;
  return {
    assemblyRunId: links?.assemblyRunId ?? null,
    assemblyNodeId: links?.assemblyNodeId ?? null,
    driftFindingId: links?.driftFindingId ?? null,
    driftMonitorId: links?.driftMonitorId ?? null,
    undoes: links?.undoes ?? null,
    startedByRunId: links?.startedByRunId ?? null,
    parentWorkflowId: parentWorkflowId ?? null,
    authors: json([...authors]),
    reviewNeeds: json([...reviewNeeds]),
    expectedStateSerial: expects?.stateSerial ?? null,
    expectedDeployedRunId: expects?.deployedRunId ?? null,
    expectedPlanRunId: expects?.planRunId ?? null,
  };
}

/** Inserts the run with the statement that returns its details, who may use its pool, and which of its workers are free. */
async function insert(tx: Transaction, row: NewRunRow) {
  const { poolAccess, freeIsolation, ...details } = await readBack(
    insertRun(tx.em, row).then(([inserted]) => inserted),
  );
  return { poolAccess, freeIsolation, details };
}

function describeWork(run: ResolvedRun) {
  return {
    id: run.id,
    templateVersionId: run.templateVersionId,
    templateVersion: run.templateVersion,
    operation: run.operation,
    message: run.message,
    pool: run.pool,
    toolDemand: run.toolDemand && json(run.toolDemand),
    toolSwitch: run.toolSwitch && json(run.toolSwitch),
    replace: json(run.replace),
    options: run.options && json(run.options),
    variables: json(run.variables),
    variableSources: json(run.variableSources),
    reads: run.reads.length > 0 ? json(run.reads) : null,
    variableResets: run.variableResets.length > 0 ? json([...run.variableResets]) : null,
    sealedInputs: run.sealedInputs,
    retrySafe: run.retrySafe,
    timeouts: json(run.timeouts),
    requeuedFrom: run.requeuedFrom,
    ...toPolicyFields(run.approval),
  };
}

function describeOwner({ templateId, teamId, projectId, environmentId }: AdmissionTarget) {
  return { templateId, teamId, projectId, environmentId };
}

function describeRequester(requester: Principal) {
  return {
    requestedById: requester.id,
    requestedByType: requester.kind,
    requestedByName: requester.name,
    credentialId: requester.credential.id,
    responsibleUserId: requester.responsibleUserId,
  };
}

/** Finds or makes the instance and takes the next position in its queue; the row of the instance stays locked. */
async function enqueue(
  em: Em,
  target: AdmissionTarget,
  name: string,
): Promise<{ id: string; position: number; isNew: boolean }> {
  const { templateId } = target;
  const instance = await queueRun(em, name, target);
  if (instance.templateId !== templateId) {
    throwIfRefused(findOccupiedRefusal(instance, templateId, name));
    await changeTemplate(em, instance.id, templateId);
  }
  return instance;
}
