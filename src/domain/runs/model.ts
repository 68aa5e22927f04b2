import type { Permission } from '#domain/shared/access/permissions.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Unrepresentable } from '#domain/shared/values/representable.ts';
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

export type Masked = { sensitive: true };
export interface MaskedOutput {
  value: JsonValue | null;
  sensitive: boolean;
  /** The parts of the value that the database cannot hold. Absent: it has all of them. */
  unrepresentable?: Unrepresentable[] | undefined;
}
export type MaskedOutputs = Record<string, MaskedOutput>;

/** Somebody who answers for a run beside its requester, and so does not approve it. */
export interface RunAuthor {
  readonly id: string;
  readonly person: string | null;
  /** Tells them what they did: "you started the assembly run that it is part of". */
  readonly because: string;
}

/** A permission that reviewing a run takes in place of `run:approve`. */
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
