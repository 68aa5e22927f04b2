import { toSentence } from '#api/web/text.ts';
import { instanceChanged } from '#domain/undo/attempts/rules.ts';
import type { ProblemCode } from '#domain/undo/model.ts';
import type { ShownAttempt, ShownState } from './labels.ts';

type Judged = Pick<ShownAttempt, 'state' | 'problem' | 'verdicts'>;

/** Problems that another check would find again, and that a new run with other values avoids. */
const onlyNewRunHelps: ReadonlySet<ProblemCode> = new Set([
  'secret_at_risk',
  'data_gone',
  'too_many_runs',
  'too_many_paths',
  'deployment_unknown',
]);

/** Problems that every later check would find again, whoever requests it. */
const lasting: ReadonlySet<ProblemCode> = new Set([
  'target_gone',
  'data_gone',
  'too_many_runs',
  'too_many_paths',
  'nothing_changed',
]);

/** Whether a new run helps: as the only way, or in addition to another check. Null if it does not. */
export function leadsToNewRun(attempt: Judged, shown: ShownState): 'only' | 'also' | null {
  const { state, problem, verdicts } = attempt;
  if (shown === 'destroyed' || isWithoutWay(verdicts)) return 'only';
  if (problem && onlyNewRunHelps.has(problem.code)) return 'only';
  return state === 'conflicted' || problem?.code === 'candidate_invalid' ? 'also' : null;
}

/** Whether another run prevents the undo and cannot itself be undone. */
function isWithoutWay(verdicts: Judged['verdicts']): boolean {
  return verdicts.some(({ cause }) => cause?.run_undoable === false);
}

/** The states in which another check may help. */
const stuck: readonly ShownState[] = ['conflicted', 'blocked', 'failed', 'outdated'];

/** Whether another check could have another result. @param hasChanged whether the instance has changed since the check */
export function mayCheckAgain(attempt: Judged, shown: ShownState, hasChanged: boolean): boolean {
  const { problem, verdicts } = attempt;
  if (!stuck.includes(shown)) return false;
  if ((problem && lasting.has(problem.code)) || verdicts.some(({ verdict }) => verdict === 'irreversible'))
    return false;
  return hasChanged || !dependsOnRuns(attempt);
}

/** Whether only other runs can change the result of the check. */
function dependsOnRuns({ problem, verdicts }: Judged): boolean {
  if (problem) return problem.code === 'deployment_unknown';
  return verdicts.some(({ verdict }) => verdict === 'superseded' || verdict === 'depended_on');
}

/** The advice if every later check would find the same cause. */
const newRunStep = 'The run cannot be undone this way. Deploy the values that you want in a new run.';

/** The next step, as advice. */
export function nextStepOf(attempt: Judged, shown: ShownState): string {
  if (leadsToNewRun(attempt, shown) === 'only') return newRunStep;
  if (shown !== 'blocked' || mayCheckAgain(attempt, shown, true)) return nextSteps[shown];
  return attempt.verdicts.length > 0 ? 'The run cannot be undone. The reasons below say what to do instead.' : '';
}

/** What each state means, and what to do next. */
const nextSteps: Readonly<Record<ShownState, string>> = {
  checking: 'A scan compares the instance with its latest state. Nothing is changed.',
  ready: 'The run can be undone. The plan shows which resources the undo affects, and changes nothing.',
  conflicted:
    'Later runs changed what this run changed. Undo them first, or apply the values that you want in a new run.',
  blocked: 'The run cannot be undone now. Remove the cause, and check again.',
  failed: 'The check could not be done. Check again.',
  candidate_checking: 'What would be deployed is being planned. Nothing is changed.',
  promotable: 'Review the plan, and confirm it below.',
  outdated: toSentence(instanceChanged.message),
  promoted: 'A run deploys the undo. It plans again and may need approval.',
  undone: 'A run has deployed the undo.',
  destroyed: newRunStep,
};
