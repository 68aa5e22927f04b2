import type { Permission } from '#domain/shared/access/permissions.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Isolation } from '#domain/workers/model.ts';

/**
 * The states of a run as tables: which transitions there are, and which values each field has. Pure; the workflow imports it.
 * (specification, *Run status*; product.md of the design, *Runs*)
 */
export const runStatuses = [
  'queued',
  'pending_approval',
  'running',
  'canceling',
  'succeeded',
  'failed',
  'canceled',
  'timed_out',
] as const;
export type RunStatus = (typeof runStatuses)[number];

export const terminalStatuses = ['succeeded', 'failed', 'canceled', 'timed_out'] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return (terminalStatuses as readonly string[]).includes(status);
}

/** The statuses that may follow each status. Every change of status is a compare-and-set along one of these transitions. */
export const runTransitions: Record<RunStatus, readonly RunStatus[]> = {
  queued: ['running', 'canceling', 'canceled', 'failed', 'timed_out'],
  running: ['running', 'pending_approval', 'canceling', 'canceled', 'succeeded', 'failed', 'timed_out'],
  pending_approval: ['running', 'canceling', 'canceled', 'failed', 'timed_out'],
  canceling: ['canceled', 'failed', 'succeeded', 'timed_out'],
  succeeded: [],
  failed: [],
  canceled: [],
  timed_out: [],
};

/** What people request. */
export const requestedOperations = ['apply', 'destroy', 'plan', 'refresh'] as const;
export type RequestedOperation = (typeof requestedOperations)[number];

/**
 * `scan` looks whether what is deployed is still as it was deployed. Nobody requests it as a run: `admitScan` admits it for whoever wants to
 * know. It changes nothing, so that it needs no slot and no approval, and it gives way to a run that changes the instance.
 */
export const runOperations = [...requestedOperations, 'scan'] as const;
export type RunOperation = (typeof runOperations)[number];

/** The operations that change an instance or its state. Their runs hold the slot of the instance from planning to their end. */
export const writingOperations: readonly RunOperation[] = ['apply', 'destroy', 'refresh'];

export const runPhases = ['queued', 'planning', 'approval', 'applying', 'finished'] as const;
export type RunPhase = (typeof runPhases)[number];

/** The phases and streams of the lines of a log. */
export const logPhases = ['plan', 'apply', 'detect'] as const;
export type LogPhase = (typeof logPhases)[number];
export const logStreams = ['stdout', 'stderr', 'system'] as const;
export type LogStream = (typeof logStreams)[number];

/** The phase that the lines of an attempt have. */
export function logPhaseOf(operation: RunOperation, phase: AttemptPhase): LogPhase {
  if (phase === 'applying') return 'apply';
  return operation === 'scan' ? 'detect' : 'plan';
}

/** Reasons of attempts whose runs show other reasons: `canceled_by_user`, `plan_timeout`, `apply_timeout`. */
const attemptReasons = {
  canceled: 'the attempt was canceled',
  time_limit: 'the attempt took longer than its limit',
} as const;

/** Why an attempt failed; its run fails for the same reason. */
const failureReasons = {
  step_timeout: 'a step took longer than its timeout',
  output_limit: 'the attempt printed more than its limit',
  directory_limit: 'the attempt used more disk space than its limit',
  process_limit: 'the attempt ran more processes than its limit',
  memory_limit: 'the attempt used more memory than its limit',
  cpu_limit: 'the attempt used more processor time than its limit',
  open_files_limit: 'the attempt opened more files than its limit',
  sandbox_unavailable: 'the worker could not make a sandbox for the attempt',
  init_failed: 'the tool could not initialize the configuration; the log says why',
  plan_failed: 'planning failed; the log says why',
  apply_failed: 'applying failed; the log says why',
  step_failed: 'a step failed; the log says why',
  step_not_started: 'the program of a step could not be started',
  plan_invalid: 'the plan could not be read',
  plan_missing: 'there is no plan',
  outputs_invalid: 'the outputs could not be read',
  state_invalid: 'the state could not be read',
  state_conflict: 'the tool wrote a state that does not follow the latest one',
  state_not_saved: 'the state could not be saved',
  state_refused: 'a state that the attempt wrote could not be stored',
  logs_not_saved: 'the log could not be saved',
  artifact_missing: 'there is no plan to apply',
  artifact_mismatch: 'what was planned is not what is to be applied',
  backend_forbidden: 'the configuration chooses a backend; state is kept by the service',
  files_invalid: "the template's files cannot be laid out",
  environment_invalid: 'a variable cannot be passed to a process',
  operation_unsupported: 'the template does not support the operation',
  tool_unavailable: 'no worker has the tool that the run needs',
  executor_lost: 'the executor process ended before its attempt',
  executor_failed: 'the executor process failed',
} as const;
export type FailureReason = keyof typeof failureReasons;

/** Why an attempt did not succeed, as the executor reports it. Stable: clients may match them. */
export const executionReasons = { ...attemptReasons, ...failureReasons } as const;
export type ExecutionReason = keyof typeof executionReasons;

/** Why a run ended, or is ending, without success. Stable: clients may match them. */
export const statusReasons = {
  rejected: 'a reviewer rejected the plan',
  canceled_by_user: 'somebody canceled the run',
  forced: 'somebody ended the run without waiting for its worker',
  approval_timeout: 'nobody decided within the time for approval',
  plan_timeout: 'planning took longer than its limit',
  apply_timeout: 'applying took longer than its limit',
  plan_interrupted: 'the worker was lost while planning, more than once',
  apply_interrupted: 'the worker was lost while applying; the last state is kept and the apply is not repeated',
  plan_moved: 'the instance changed after the plan was made',
  stale: 'the instance is no longer as it was when the run was asked for',
  gave_way: 'a run that changes the instance began, and the scan gave way to it',
  pool_closed: 'the pool is no longer open to the team or environment of the run',
  engine_lost: 'the workflow engine no longer knows the run',
  ...failureReasons,
} as const;
export type StatusReason = keyof typeof statusReasons;

/** What a reason means to whoever goes on after the run. */
interface ReasonMeaning {
  /** The run may have changed more than its state and its list of resources record. */
  readonly isUncertain?: true;
  /** People, or the policies that they made, decided it: the same run again would end the same way. */
  readonly isFinal?: true;
}

/** The reasons that mean more than that the run did not succeed. */
const reasonMeanings: { readonly [Reason in StatusReason]?: ReasonMeaning } = {
  executor_lost: { isUncertain: true },
  state_not_saved: { isUncertain: true },
  state_refused: { isUncertain: true },
  approval_timeout: { isFinal: true },
  rejected: { isFinal: true },
  stale: { isFinal: true },
  pool_closed: { isFinal: true },
  operation_unsupported: { isFinal: true },
};

/** The reasons with a meaning. */
export function reasonsThat(meaning: keyof ReasonMeaning): StatusReason[] {
  return (Object.keys(reasonMeanings) as StatusReason[]).filter((reason) => reasonMeanings[reason]?.[meaning]);
}

export function isFinalReason(reason: StatusReason): boolean {
  return reasonMeanings[reason]?.isFinal ?? false;
}

export type Masked = { sensitive: true };
export type MaskedOutputs = Record<string, { value: JsonValue | null; sensitive: boolean }>;

/** Somebody who answers for a run beside its requester, and so does not approve it. */
export interface RunAuthor {
  readonly id: string;
  readonly person: string | null;
  /** Tells them what they did: "you started the assembly run that it is part of". */
  readonly because: string;
}

/** A permission that reviewing a run needs beside the authority to review runs. */
export interface ReviewNeed {
  readonly permission: Permission;
  /** What it says of the run: "it runs a node of an assembly". */
  readonly because: string;
}

export interface RunTimeouts {
  plan: number;
  approval: number;
  apply: number;
}

/** How long a worker waits for a tool that it has told to stop, before it kills the tool. */
export const toolGraceMs = 30_000;
/** Then the worker saves the last state and confirms. */
const confirmationMs = 10_000;

/** Whether a cancellation was requested so long ago that the worker should have confirmed it. */
export function isCancellationOverdue(requestedAt: Date, now: Date): boolean {
  return now.getTime() - requestedAt.getTime() >= toolGraceMs + confirmationMs;
}

/** The timeouts of a template that declares none, in seconds: an hour for execution, a week for approval. */
export const defaultTimeouts: RunTimeouts = { plan: 3600, approval: 7 * 24 * 3600, apply: 3600 };

export type ApprovalRule = 'never' | 'destroys' | 'changes' | 'always';

/** Whether a plan needs approval. With `required: 0` none does, and a plan without changes never does. */
export function needsApproval(
  policy: { required: number; when: ApprovalRule },
  plan: { changes: boolean; destroys: boolean },
) {
  if (policy.required === 0 || !plan.changes) return false;
  const waits: Record<ApprovalRule, boolean> = { never: false, destroys: plan.destroys, changes: true, always: true };
  return waits[policy.when];
}

/** Why an approval no longer counts: its reviewer is disabled, may not review the run any more, or answers for it. */
export const lapseReasons = ['disabled', 'not_permitted', 'self_approval'] as const;
export type LapseReason = (typeof lapseReasons)[number];

export type AttemptPhase = 'planning' | 'applying';

/**
 * How an attempt ended. `handed_back`: its worker stopped before it had changed anything. `lost`: its worker is gone, and
 * its writes are refused.
 */
export const attemptOutcomes = [
  'planned',
  'unchanged',
  'applied',
  'failed',
  'canceled',
  'timed_out',
  'handed_back',
  'lost',
] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** What the workflow of a run does next. */
export type NextStep =
  | {
      kind: 'execute';
      attemptId: string;
      taskQueue: string;
      timeoutSeconds: number;
      /** How long it may wait in the queue before another queue is chosen; missing in steps of earlier releases: no limit. */
      startWithinSeconds?: number;
      priority: number;
    }
  /** `suspects`: the run waits for a worker with an expired heartbeat; the workflow reports that with its next request. */
  | { kind: 'wait'; seconds: number; suspects?: true }
  | { kind: 'end' };

/** The workflow type of runs. Histories name it, so it never changes. */
export const runWorkflow = 'run';

/** The signal that makes the workflow of a run ask for the next step. */
export const wakeSignal = 'wake';

/**
 * The task queue of the workers of a pool. Workers that do not contain template code have their own queue, so that they get
 * no run that demands a sandbox. No pool name can turn one queue into the other.
 */
export function poolQueue(pool: string, isolation: Isolation): string {
  return isolation === 'sandbox' ? `pool.${pool}` : `uncontained-pool.${pool}`;
}

export const defaultPool = 'default';

/** On a busy pool, applies go before plans, and plans before scans (the engine's task priority; 1 is first, and 5 is last). */
export function priorityOf(operation: RunOperation, phase: AttemptPhase): number {
  if (phase === 'applying') return 1;
  return operation === 'scan' ? 5 : 3;
}
