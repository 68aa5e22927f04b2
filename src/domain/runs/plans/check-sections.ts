import { findUnstorable, findUnstorableText } from '#domain/shared/values/storable.ts';
import { findDiagnosticsProblem } from '../diagnostics/model.ts';
import { changeActions } from './model.ts';
import {
  checkKinds,
  checkStatuses,
  maxProblemLength,
  maxProblems,
  type PlanCheck,
  type PlanSections,
} from './sections.ts';

/** The maximum number of members of a section. A larger plan is refused, because the service could not show all of it. */
const maxMembers = 64 * 1024;
const maxNameLength = 4096;

/** Returns why the sections of a plan cannot be stored; null if they can. The reason never repeats a value. */
export function findSectionsProblem(sections: PlanSections): string | null {
  const { outputs, checks, actions, deferred, diagnostics } = sections;
  if (Object.values({ outputs, checks, actions, deferred }).some((list) => list.length > maxMembers))
    return `one of its lists has more than ${maxMembers} members`;
  const names = [
    ...outputs.map(({ name }) => name),
    ...checks.map(({ address }) => address),
    ...actions.flatMap(({ address, type, event, trigger, deferred: reason }) => [
      address,
      type,
      event,
      trigger,
      reason,
    ]),
    ...deferred.flatMap(({ reason, change }) => [reason, change.address]),
  ];
  if (names.some((name) => name !== null && findUnstorableText(name, maxNameLength) !== null))
    return `a name beside its changes has more than ${maxNameLength} characters, or cannot be stored`;
  if ([...outputs, ...deferred.map(({ change }) => change)].some(({ action }) => !changeActions.includes(action)))
    return 'an output has an unknown action';
  if (!checks.every(isCheck)) return 'a check has an unknown kind or status, or a message that cannot be stored';
  const problem = findUnstorable(sections);
  if (problem) return `what it holds beside its changes ${problem}`;
  const warnings = findDiagnosticsProblem(diagnostics);
  return warnings && `the list of its warnings ${warnings}`;
}

function isCheck({ kind, status, problems }: PlanCheck): boolean {
  return (
    checkKinds.includes(kind) &&
    checkStatuses.includes(status) &&
    problems.length <= maxProblems &&
    problems.every((message) => findUnstorableText(message, maxProblemLength) === null)
  );
}
