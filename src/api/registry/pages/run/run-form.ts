import type { FormProblems } from '#api/web/forms/problems.ts';
import type { ValueProblem } from '#api/web/forms/schema/value.ts';
import type { VariablesEntry } from '#api/web/forms/schema/variables.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import type { RunFacts } from './facts.ts';
import type { SentForm } from './submission.ts';

/** The form for a run, as a page shows it. */
export interface RunForm {
  readonly facts: RunFacts;
  readonly basic: Partial<SentForm['basic']>;
  readonly entry: VariablesEntry;
  /** The deployed secrets that the run does not take over. */
  readonly omitted: readonly string[];
  readonly problems: FormProblems | null;
  /** There is no problem: the visitor only has to see what the run changes, and to confirm it. */
  readonly isToConfirm: boolean;
  /** The form was sent before, and is shown again. */
  readonly isSent: boolean;
  /** The entered secrets, sealed. */
  readonly carried: string;
  /** The address to which the form is sent: that of the page. */
  readonly address: string;
}

/** Problems of variables that the page itself found. */
export function variableProblems(problems: readonly ValueProblem[]): FormProblems {
  const details = problems.map(({ pointer, message }) => ({ path: pointer, message }));
  return { status: 422, fields: {}, others: [], code: 'variables_invalid', details };
}

/** Problems of secrets that nothing provides for a run, or that it must not keep. @param ofOthers those that another person entered */
export function askedProblems(names: readonly string[], ofOthers: readonly string[]): FormProblems {
  const messageOf = (name: string) =>
    ofOthers.includes(name)
      ? 'Enter it again: another person gave it, and something else changes'
      : 'Enter it again: nothing else gives it';
  return variableProblems(names.map((name) => ({ pointer: `/${escapePointer(name)}`, message: messageOf(name) })));
}

/** The problems of a version or an environment that the form or the address names; null if there are none. */
export function choiceProblems({ problems: fields, environmentLost }: RunFacts): FormProblems | null {
  const others = environmentLost === null ? [] : [environmentLost];
  return Object.keys(fields).length + others.length === 0 ? null : { status: 422, fields, others };
}

/** Joins the problems of a form; null if there are none. If a field has two problems, the first one is shown. */
export function joinProblems(...found: readonly (FormProblems | null)[]): FormProblems | null {
  const problems = found.filter((each) => each !== null);
  if (problems.length === 0) return null;
  const lastFirst = problems.toReversed();
  const merged: FormProblems = Object.assign({}, ...lastFirst);
  const fields: FormProblems['fields'] = Object.assign({}, ...lastFirst.map((each) => each.fields));
  return { ...merged, fields, others: problems.flatMap(({ others }) => others) };
}

/** The problem if the fields that were filled in belong to another version than the one that the form now runs. */
export function versionProblem(shown: string, version: { readonly version: string } | null): FormProblems | null {
  if (!version || shown === version.version) return null;
  return otherProblem(`The fields now belong to version ${version.version}. Check them, then submit the form again.`);
}

/** A problem of the form as a whole. */
function otherProblem(text: string): FormProblems {
  return { status: 409, fields: {}, others: [text] };
}

/** The problem if the secrets in the form belong to another form, or have expired. */
export const lostSecrets = otherProblem(
  'The secrets that you entered were kept for an hour, and for one form. Enter them again, then submit the form again.',
);

function isOfVariables({ code, details = [] }: FormProblems): boolean {
  return code === 'variables_invalid' || (code === 'reference_unresolved' && details.length > 0);
}

/** Removes the problems of variables from those of the whole form, because they are shown at the variables. */
export function explainProblems(problems: FormProblems): FormProblems {
  if (isOfVariables(problems)) return { ...problems, others: [] };
  if (problems.code !== 'idempotency_key_reused') return problems;
  const others = ['This form was submitted before with other content. Submit it again to start another run.'];
  return { ...problems, others };
}

/** The problems of the variables alone. */
export function variablesIn(problems: FormProblems | null): ValueProblem[] {
  if (!problems || !isOfVariables(problems)) return [];
  return (problems.details ?? []).map(({ path, message }) => ({ pointer: path, message }));
}
