import type { Refusal } from '#domain/shared/actions.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import type { AttemptState, Problem } from '../model.ts';

/** The facts that decide whether a run can be undone. */
export interface UndoFacts {
  readonly operation: RunOperation;
  /** Whether the run changed its instance. */
  readonly hasDeployed: boolean;
  /** The run that has undone this run; null if it is not undone, or if that undo was undone. */
  readonly undoneBy: string | null;
  /** The last destroy that changed its instance afterwards. */
  readonly destruction: Destruction | undefined;
}

/** A destroy after a run. */
export interface Destruction {
  readonly runId: string;
  /** Whether nothing is deployed since. */
  readonly isRemoved: boolean;
}

/** Why no attempt at undoing a run can be made; null if one can. */
export function findUndoRefusal({ operation, hasDeployed, undoneBy, destruction }: UndoFacts): Refusal | null {
  if (operation === 'destroy') return notUndoable('a destroy cannot be undone: apply the template again');
  if (operation !== 'apply' && operation !== 'refresh')
    return notUndoable(`a run of the operation ${operation} changes nothing: only a run that applied can be undone`);
  if (!hasDeployed)
    return notUndoable('the run has applied nothing: only a run that changed its instance can be undone');
  if (destruction) return destroyedSince(destruction);
  return undoneBy === null ? null : notUndoable(`already undone by the run ${undoneBy}`);
}

/** A destroy cannot be undone, and neither can earlier runs, because everything that is deployed now was deployed later. */
export function destroyedSince({ runId, isRemoved }: Destruction): Refusal {
  return notUndoable(
    isRemoved
      ? `the instance was destroyed by the run ${runId}: deploy the values that you want in a new run`
      : `the run ${runId} destroyed at least a part of the instance later: apply the values that you want in a new run`,
  );
}

/** The maximum number of concurrent checks of an instance, since each check scans the instance and opens the inputs of its runs. */
const maxChecks = 3;

/** Why no further check may begin while other checks of the instance have not ended; null if one may. */
export function findCrowdRefusal(checking: number): Refusal | null {
  if (checking < maxChecks) return null;
  const message = `${checking} checks of undoing runs of this instance have not ended: wait for one of them`;
  return { code: 'undo_check_running', message };
}

function notUndoable(message: string): Refusal {
  return { code: 'run_not_undoable', message };
}

type Step = 'check_candidate' | 'promote';

const statesThatAllow: Record<Step, readonly AttemptState[]> = {
  check_candidate: ['ready', 'promotable'],
  promote: ['promotable'],
};

/** Why an attempt in each state cannot take a step, and what to do. */
const reasons: Record<AttemptState, string> = {
  checking: 'the check has not ended: wait until it has',
  ready: 'the plan of the candidate was not checked: ask for a candidate check first',
  conflicted: 'later runs changed what the run changed: its verdicts say whether undoing them first helps',
  blocked: 'its problem or its verdicts name what is in the way: remove that, and check again',
  failed: 'the check could not be done: check again',
  candidate_checking: 'a candidate check has not ended: wait until it has',
  promotable: 'the candidate is checked',
  promoted: 'it was promoted already',
};

/**
 * Why an attempt in its state cannot take a step; null if it can.
 * @param destruction a destroy that ended every attempt at undoing the run; it is reported first, because other advice could not be
 * followed
 */
export function findStepRefusal(step: Step, state: AttemptState, destruction?: Destruction): Refusal | null {
  if (destruction && state !== 'promoted') return destroyedSince(destruction);
  if (statesThatAllow[step].includes(state)) return null;
  return { code: 'undo_not_ready', message: `the attempt is ${state}: ${reasons[state]}` };
}

/** The present state and deployment of the instance. */
export interface InstanceNow {
  readonly stateSerial: number;
  readonly deployedRunId: string | null;
  /** The position of that run among the runs of the instance. */
  readonly deployedPosition?: number | null;
}

/** The state and the deployment of the instance that an attempt has checked. */
export interface CheckedInstance {
  readonly stateSerial: number;
  readonly deployedRunId?: string | null | undefined;
}

/** Refuses an attempt whose instance has another state or deployment than the one that was checked. */
export function findStaleRefusal(attempt: CheckedInstance, now: InstanceNow | undefined): Refusal | null {
  if (now && now.stateSerial === attempt.stateSerial && now.deployedRunId === (attempt.deployedRunId ?? null))
    return null;
  return instanceChanged;
}

/** The refusal after the instance has changed: only a new attempt can continue. */
export const instanceChanged = stale('the instance has changed since it was checked');

export function stale(what: string): Refusal {
  return { code: 'stale', message: `${what}: check again, which makes a new attempt` };
}

/** The refusal of a step because of a problem that has appeared since the check. */
export function toRefusal({ code, message }: Problem): Refusal {
  if (code === 'run_in_flight') return { code: 'instance_busy', message };
  return lastingProblems.has(code) ? { code: 'undo_not_ready', message } : stale(message);
}

/** Problems that another check would find again. Their messages say what to do instead. */
const lastingProblems: ReadonlySet<Problem['code']> = new Set([
  'secret_at_risk',
  'target_gone',
  'data_gone',
  'too_many_runs',
  'too_many_paths',
  'nothing_changed',
  'deployment_unknown',
  'archived',
]);
