import type { Principal } from '#domain/shared/access/principal.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { type RunOperation, type RunStatus, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { type AdmissionFacts, findCopyRefusal, findRequeueRefusal } from './admission/rules.ts';
import { type ApprovalFacts, findReviewRefusal } from './approval/rules.ts';

/** The actions that people take on a run. Pure; operations and the `actions` of a run decide by the same functions. */
export const runActions = [
  'cancel',
  'force',
  'request_approval',
  'approve',
  'reject',
  'requeue',
  'copy',
  'delete',
] as const;
export type RunAction = (typeof runActions)[number];

const whileActive = ['cancel', 'force'] as const;
const onceEnded = ['requeue', 'copy', 'delete'] as const;

/** The actions that each status allows. */
export const actionsByStatus: Record<RunStatus, readonly RunAction[]> = {
  queued: whileActive,
  running: whileActive,
  pending_approval: [...whileActive, 'request_approval', 'approve', 'reject'],
  canceling: whileActive,
  succeeded: onceEnded,
  failed: onceEnded,
  canceled: onceEnded,
  timed_out: onceEnded,
};

const ended = (status: RunStatus): Refusal => ({
  code: 'run_not_cancelable',
  message: `the run has already ended (${status}): there is nothing to cancel`,
});
const notPending = (status: RunStatus): Refusal => ({
  code: 'run_not_pending_approval',
  message: `the run is not waiting for approval: its status is ${status}`,
});
const notEnded =
  (code: 'run_not_requeueable' | 'run_not_copyable' | 'run_not_deletable', purpose: string) =>
  (status: RunStatus): Refusal => ({
    code,
    message: `the run has not ended (${status}): only a run that has ended can be ${purpose}`,
  });

/** The refusal of each action in the statuses that do not allow it. */
const statusRefusals: Record<RunAction, (status: RunStatus) => Refusal> = {
  cancel: ended,
  force: ended,
  request_approval: notPending,
  approve: notPending,
  reject: notPending,
  requeue: notEnded('run_not_requeueable', 'requeued'),
  copy: notEnded('run_not_copyable', 'copied'),
  delete: notEnded('run_not_deletable', 'deleted; cancel it first'),
};

/** The actions that admit a new run with the inputs of an ended one. */
export type Repetition = 'requeue' | 'copy';

export const isRepetition = (action: RunAction): action is Repetition => action === 'requeue' || action === 'copy';

const deletedRefusals: Record<Repetition, Refusal> = {
  requeue: {
    code: 'run_not_requeueable',
    message: 'the run was deleted, and its inputs with it: it cannot be requeued; admit a new run instead',
  },
  copy: {
    code: 'run_not_copyable',
    message: 'the run was deleted, and its inputs with it: it cannot be copied; admit a new run instead',
  },
};

/** The refusal of a repetition by the rules of admission; null if it is allowed. */
const admissionRefusals: Record<Repetition, (facts: AdmissionFacts) => Refusal | null> = {
  requeue: findRequeueRefusal,
  copy: findCopyRefusal,
};

/** The statuses that allow an action. */
export function statusesThatAllow(action: RunAction): RunStatus[] {
  return runStatuses.filter((status) => actionsByStatus[status].includes(action));
}

/** The refusal of an action by the status of the run alone; null if the status allows it. */
export function findStatusRefusal(action: RunAction, status: RunStatus): Refusal | null {
  return actionsByStatus[status].includes(action) ? null : statusRefusals[action](status);
}

const scanRefusals: Record<Repetition, Refusal> = {
  requeue: { code: 'run_not_requeueable', message: 'a scan cannot be requeued: scan the instance again instead' },
  copy: { code: 'run_not_copyable', message: 'a scan cannot be copied: scan the instance again instead' },
};

/** Repeating a switch of the tool would make an ordinary apply, which makes the changes that the switch refuses to make. */
const switchRefusals: Record<Repetition, Refusal> = {
  requeue: {
    code: 'run_not_requeueable',
    message: 'a switch of the tool cannot be requeued: request the switch again',
  },
  copy: { code: 'run_not_copyable', message: 'a switch of the tool cannot be copied: request the switch again' },
};

/** The facts that decide whether a run can be repeated. */
type RepeatableFacts = Pick<RunFacts, 'status' | 'operation' | 'isDeleted' | 'toolSwitch'>;

/** The refusal of a repetition because of the run that is to be repeated; null if nothing about that run forbids it. */
function findRepetitionRefusal(
  action: Repetition,
  { status, operation, isDeleted, toolSwitch }: RepeatableFacts,
): Refusal | null {
  if (operation === 'scan') return scanRefusals[action];
  if (toolSwitch) return switchRefusals[action];
  return findStatusRefusal(action, status) ?? (isDeleted ? deletedRefusals[action] : null);
}

/** @throws ActionRefused if the run has not ended, was deleted, is a scan, or switches the tool of its instance */
export function refuseRepetition(action: Repetition, run: RepeatableFacts): void {
  throwIfRefused(findRepetitionRefusal(action, run));
}

/** @throws ActionRefused if the run's status does not allow the action */
export function refuseByStatus(action: RunAction, status: RunStatus): void {
  throwIfRefused(findStatusRefusal(action, status));
}

/** The facts about a run on which its actions depend, apart from the caller's authority. */
export interface RunFacts {
  readonly status: RunStatus;
  readonly operation: RunOperation;
  readonly isDeleted: boolean;
  /** The tool to which the run switches its instance; null if it switches none. */
  readonly toolSwitch?: object | null | undefined;
  /** Present while the status allows a review. */
  readonly approval: ApprovalFacts | null;
  /** Present once the status allows a repetition. */
  readonly admission: AdmissionFacts | null;
}

/** The facts of a run that has just been admitted. */
export function factsOfNewRun(status: RunStatus, operation: RunOperation): RunFacts {
  return { status, operation, isDeleted: false, toolSwitch: null, approval: null, admission: null };
}

/** The refusal of an action by the rules of runs, for a caller with enough authority; null if it is allowed. */
export function findRunRefusal(action: RunAction, facts: RunFacts, caller: Principal): Refusal | null {
  const refusal = findStatusRefusal(action, facts.status);
  if (refusal) return refusal;
  if ((action === 'approve' || action === 'reject') && facts.approval)
    return findReviewRefusal(facts.approval, caller, { decision: action, planDigest: null });
  if (!isRepetition(action)) return null;
  return findRepetitionRefusal(action, facts) ?? (facts.admission && admissionRefusals[action](facts.admission));
}
