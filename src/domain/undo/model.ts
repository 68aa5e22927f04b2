import type { JsonValue } from '#domain/shared/values/json.ts';

/** The states of a selective undo as tables. Pure. (docs/undo.md, *States of an attempt*) */

export const attemptStates = [
  'checking',
  'ready',
  'conflicted',
  'blocked',
  'failed',
  'candidate_checking',
  'promotable',
  'promoted',
] as const;
export type AttemptState = (typeof attemptStates)[number];

export const verdictWords = [
  'clean',
  'kept',
  'superseded',
  'drifted',
  'depended_on',
  'irreversible',
  'unknown',
] as const;
export type VerdictWord = (typeof verdictWords)[number];

/** Why a verdict is not `clean`. */
export interface VerdictCause {
  readonly message: string;
  /** The later run. */
  readonly runId?: string;
  /** Whether that run can be undone first, as far as the inputs of the runs show. Null or absent: not known. */
  readonly isUndoable?: boolean | null;
  /** The path that a later run put into an object which the undo would remove. */
  readonly path?: string;
  /** The resources that differ from the state. */
  readonly addresses?: readonly string[];
}

export interface Verdict {
  readonly path: string;
  readonly verdict: VerdictWord;
  readonly cause: VerdictCause | null;
}

/**
 * How undoing the run would change one path: from the value that the run set to the value before the run. A missing member means that the
 * path did not exist.
 */
export interface ShownChange {
  readonly path: string;
  readonly from?: JsonValue;
  readonly to?: JsonValue;
}

/** Why a whole attempt cannot continue, or why its last candidate check failed. Stable: clients may match the codes. */
export const problemCodes = {
  archived: 'the environment, the template or an owner of them is archived',
  target_gone: 'the template, the environment or the instance is gone',
  run_in_flight: 'a run that may change the instance has not ended',
  data_gone: 'the inputs or the plan of a run were deleted, without which nothing can be compared',
  too_many_runs: 'too many runs have changed the instance since',
  too_many_paths: 'the run changed too many paths of the inputs',
  nothing_changed: 'the run left the inputs of the instance as they were',
  deployment_unknown: 'the service does not know by which run the instance is deployed',
  candidate_invalid: 'what would be deployed is not valid',
  secret_at_risk: 'a secret of another person would go to inputs that it was never deployed with',
  not_comparable: 'the template cannot tell whether the instance has drifted',
  drifted: 'the instance is not as its latest state says',
  scan_failed: 'the comparison of the instance with its state failed',
  plan_failed: 'the plan of the candidate failed',
  too_much_collateral: 'the plan of the candidate touches more beside the run than a promotion can accept',
} as const;
export type ProblemCode = keyof typeof problemCodes;

export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly runId: string | null;
}

/**
 * The state of an attempt with these verdicts. Superseded paths are a conflict, which people can resolve by undoing later runs. Other
 * verdicts block the attempt.
 */
export function stateOf(verdicts: readonly Pick<Verdict, 'verdict'>[]): 'ready' | 'conflicted' | 'blocked' {
  const isFree = ({ verdict }: Pick<Verdict, 'verdict'>) => verdict === 'clean' || verdict === 'kept';
  if (verdicts.every(isFree)) return 'ready';
  const isConflict = verdicts.every((each) => isFree(each) || each.verdict === 'superseded');
  return isConflict ? 'conflicted' : 'blocked';
}

/** The workflow type of checks. The histories of workflows contain it, so it never changes. */
export const undoCheckWorkflow = 'undoCheck';

/** What the workflow of a check does next. */
export type CheckStep = { readonly kind: 'end' } | { readonly kind: 'wait'; readonly seconds: number };

export const checkStates = ['checking', 'passed', 'failed'] as const;
export type CheckState = (typeof checkStates)[number];
