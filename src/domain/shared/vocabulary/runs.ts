/** The statuses, operations and phases of runs, which areas below the area `runs` use too. Pure. (specification, *Run status*) */

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

/** The operations that people can request. */
export const requestedOperations = ['apply', 'destroy', 'plan', 'refresh'] as const;
export type RequestedOperation = (typeof requestedOperations)[number];

/**
 * `scan` checks whether an instance is still as it was deployed. It cannot be requested as a run; other areas start it by `admitScan`. It
 * changes nothing, so it needs no slot and no approval, and a run that changes the instance cancels it.
 */
export const runOperations = [...requestedOperations, 'scan'] as const;
export type RunOperation = (typeof runOperations)[number];

/** The operations that change an instance or its state. Their runs hold the slot of the instance from planning to their end. */
export const writingOperations: readonly RunOperation[] = ['apply', 'destroy', 'refresh'];

export const runPhases = ['queued', 'planning', 'approval', 'applying', 'finished'] as const;
export type RunPhase = (typeof runPhases)[number];

/** The phases in which a run keeps the policy under which it applies, even if the policy of its environment changes. */
export const phasesWithOwnPolicy: readonly RunPhase[] = ['applying', 'finished'];

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

export interface RunTimeouts {
  plan: number;
  approval: number;
  apply: number;
}

export type AttemptPhase = 'planning' | 'applying';

/**
 * How an attempt ended. `handed_back`: its worker stopped before it had changed anything. `lost`: its worker has stopped, and its writes
 * are refused.
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

/** The signal after which the workflow of a run requests the next step. */
export const wakeSignal = 'wake';
