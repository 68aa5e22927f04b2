import type { Hold } from '#domain/holds/holds.ts';
import type { FullQuota } from '#domain/quotas/use/slots.ts';
import type { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';
import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { AttemptPhase, TerminalStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import type { WorkerLiveness } from '#domain/workers/model.ts';
import type { Run, RunAttempt } from '../entity.ts';

/** Everything that the next step of a run depends on. */
export interface StepFacts {
  readonly run: Pick<Run, 'status' | 'operation' | 'timeouts' | 'retrySafe'> &
    Partial<Pick<Run, 'toolSwitch' | 'statusReason' | 'planSummary' | 'approvalExpiresAt' | 'waitingOn'>>;
  /** The current attempt of the run. */
  readonly attempt:
    | (Pick<RunAttempt, 'id' | 'phase' | 'startedAt'> & Partial<Pick<RunAttempt, 'outcome' | 'workerId'>>)
    | null;
  /** Whether the worker of the attempt is alive; null if the attempt is not open, or if no worker has claimed it. */
  readonly workerLiveness: WorkerLiveness | null;
  /** How many attempts at the phase of the current one were lost. */
  readonly lostAttempts: number;
  /** The stricter of the policies at the admission of the run and now. */
  readonly policy: ApprovalPolicy;
  /** How many people have approved the plan whose approvals still count. */
  readonly approvals: number;
  /** How many approvals of the plan do not count any more. They may count again. */
  readonly lapses: number;
  /** What keeps all applies from starting now; null if nothing does. */
  readonly hold: Hold | null;
  /** Whether the plan was made from the latest state of the instance. */
  readonly planIsCurrent: boolean;
  /** Whether the instance still has the state and the deployment that the run expects; true if the run expects none. */
  readonly isPinCurrent: boolean;
  /** Whether the run's team and environment may use its pool. */
  readonly poolIsOpen: boolean;
  /** The run that holds the slot of the instance or comes before this one; null if this one may acquire the slot. */
  readonly blocker: { readonly id: string; readonly position: number } | null;
  /** The quota that has no place for the run; null if it may begin or continue, or has a place. */
  readonly fullQuota: FullQuota | null;
  /** For a queued scan: whether a run is changing the instance now. One that waits for approval changes nothing yet. */
  readonly isChanging: boolean;
  /** Whether a live worker may execute the run. */
  readonly hasWorker: boolean;
  /** The last attempt whose activity has ended. */
  readonly executed: string | null;
  /** Whether the workflow itself was canceled. */
  readonly canceled: boolean;
  /** Whether the last step was to wait for a worker with an expired heartbeat. */
  readonly suspected: boolean;
  readonly now: Date;
}

/** How a step ends the open attempt, and whether the events of the run report the loss. */
export interface Closing {
  readonly outcome: 'lost' | 'handed_back' | 'canceled';
  readonly isReported: boolean;
}

/** The next step of a run. */
export type Step =
  /** The run has ended. */
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'finish';
      readonly status: TerminalStatus;
      readonly reason: StatusReason | null;
      readonly closes?: Closing;
    }
  | {
      readonly kind: 'wait';
      readonly seconds: number;
      readonly suspects?: true;
      readonly waitingOn?: Pick<WaitingOn, 'code'> & Partial<Pick<WaitingOn, 'position' | 'blocker' | 'share'>>;
      readonly closes?: Closing;
    }
  /** The run acquires its slot, and planning begins. */
  | { readonly kind: 'begin' }
  /** The run waits for approval, or waits for it again. */
  | { readonly kind: 'ask_approval'; readonly seconds: number; readonly closes?: Closing }
  | { readonly kind: 'apply' }
  /** The instance gets the tool with which the run has planned no change, and the run has succeeded. */
  | { readonly kind: 'switch_tool' }
  /** A new attempt at a phase. */
  | { readonly kind: 'execute'; readonly phase: AttemptPhase; readonly closes?: Closing }
  /** The open attempt is handed to a worker. */
  | { readonly kind: 'resume' };

export function finish(status: TerminalStatus, reason: StatusReason | null = null): Extract<Step, { kind: 'finish' }> {
  return { kind: 'finish', status, reason };
}
