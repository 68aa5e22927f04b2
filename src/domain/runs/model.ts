import type { Permission } from '#domain/shared/access/permissions.ts';
import type { ApprovalRule } from '#domain/shared/vocabulary/approval.ts';
import type { AttemptPhase, RunOperation, RunPhase, RunStatus, RunTimeouts } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import type { Isolation } from '#domain/workers/model.ts';

/**
 * Rules of runs: the transitions of their statuses, approvals, timeouts and task queues. Pure; the workflow imports it. (specification,
 * *Run status*; docs/architecture.md, *A run*)
 */

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

/** A person who is responsible for a run besides its requester, and so may not approve it. */
export interface RunAuthor {
  readonly id: string;
  readonly person: string | null;
  /** The reason, addressed to that person, such as "you started the assembly run that it is part of". */
  readonly because: string;
}

/** A permission that reviewing a run requires instead of `run:approve`. */
export interface ReviewNeed {
  readonly permission: Permission;
  /** The reason, as a clause about the run, such as "it runs a node of an assembly". */
  readonly because: string;
}

/** How long a worker waits after it has asked a tool to stop, before it kills the tool. */
export const toolGraceMs = 30_000;
/** How long a worker then has to save the last state and to confirm. */
const confirmationMs = 10_000;

/** Whether a cancellation was requested so long ago that the worker should have confirmed it. */
export function isCancellationOverdue(requestedAt: Date, now: Date): boolean {
  return now.getTime() - requestedAt.getTime() >= toolGraceMs + confirmationMs;
}

/** The timeouts of a template that declares none, in seconds: an hour for execution, a week for approval. */
export const defaultTimeouts: RunTimeouts = { plan: 3600, approval: 7 * 24 * 3600, apply: 3600 };

/** Whether a plan needs approval. With `required: 0` none does, and a plan without changes never does. */
export function needsApproval(
  policy: { required: number; when: ApprovalRule },
  plan: { changes: boolean; destroys: boolean },
) {
  if (policy.required === 0 || !plan.changes) return false;
  const waits: Record<ApprovalRule, boolean> = { never: false, destroys: plan.destroys, changes: true, always: true };
  return waits[policy.when];
}

/** Why an approval no longer counts: its reviewer is disabled, may not review the run any more, or is responsible for the run. */
export const lapseReasons = ['disabled', 'not_permitted', 'self_approval'] as const;
export type LapseReason = (typeof lapseReasons)[number];

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

/** How a worker may begin a run by itself, if its pool seemed to have a free slot when the run was admitted. */
export interface Beginning {
  /** The queue of the workers. */
  readonly queue: string;
  /** The longest that the activity which begins the run may take. */
  readonly timeout_seconds: number;
  readonly priority: number;
}

/** The workflow type of runs. The histories of workflows contain it, so it never changes. */
export const runWorkflow = 'run';

/**
 * The task queue of the workers of a pool. Workers that do not contain template code have their own queue, so that they get
 * no run that demands a sandbox. No pool name can turn one queue into the other.
 */
export function poolQueue(pool: string, isolation: Isolation): string {
  return isolation === 'sandbox' ? `pool.${pool}` : `uncontained-pool.${pool}`;
}

/** On a busy pool, applies go before plans, and plans before scans (the engine's task priority; 1 is first, and 5 is last). */
export function priorityOf(operation: RunOperation, phase: AttemptPhase): number {
  if (phase === 'applying') return 1;
  return operation === 'scan' ? 5 : 3;
}

/** What can change about a run that a client watches. */
export interface WatchedRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly phase: RunPhase;
  readonly revision: number;
  readonly waitingOn: WaitingOn | null;
  /** The number of the last chunk of its log; 0 before the first. */
  readonly lastLogSequence: number;
  /** The number of its last event. Events are numbered in the order of their commits, so no event with a lower number appears later. */
  readonly lastEventSequence: number;
}
