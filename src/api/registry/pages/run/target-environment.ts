import { type Inherited, type InheritedValues, readInherited } from '#api/environments/pages/inherited.ts';
import { createRun } from '#api/runs/operations.ts';
import {
  noneChoice,
  optionalEnvironmentField,
  readEnvironmentChoices,
} from '#api/tenancy/pages/environment-choices.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import { readChoice } from '#api/web/forms/named-choices.ts';
import { toSentence } from '#api/web/text.ts';
import type { ShownTemplate } from '../views.ts';
import type { DeployedFacts } from './deployed.ts';
import type { RunFormVisit, SourceRun } from './form-visit.ts';

/** Where a run of the form deploys. */
export interface TargetEnvironment {
  readonly environments: Choices;
  /** Empty: in no environment, or in none that is known. */
  readonly environmentId: string;
  /** Whether the visitor chose an environment, or chose to have none. */
  readonly isKnown: boolean;
  /** What applies to a variable that is left empty instead of its default. */
  readonly inherited: InheritedValues;
  /** Why what was chosen cannot be, or why the run cannot stay where it is; null if it can. */
  readonly problem: string | null;
}

/** What the form works on. */
interface Subject {
  readonly template: ShownTemplate;
  readonly source: SourceRun | null;
  readonly deployed: DeployedFacts | null;
}

/** Reads where a run of the form deploys. `typed` is what was chosen, or what the address names; a run that is copied or deployed again stays where it is. */
export async function readTargetEnvironment(
  visit: RunFormVisit,
  { template, source, deployed }: Subject,
  typed = '',
): Promise<TargetEnvironment> {
  const isFixed = Boolean(source ?? deployed);
  const fixed = (source ? source.environment_id : deployed?.environmentId) || noneChoice;
  const text = isFixed ? fixed : typed;
  const teamId = template.team_id ?? visit.scope.teamId;
  const environments = await readEnvironmentChoices(visit, {
    teamId,
    alsoId: text,
    ...(!isFixed && { operation: createRun }),
  });
  const chosen = isFixed ? { value: text } : await readChoice(visit, optionalEnvironmentField(environments), text);
  const withoutEnvironment = { environments, environmentId: '', inherited: new Map<string, Inherited>() };
  if ('problem' in chosen) return { ...withoutEnvironment, isKnown: false, problem: toSentence(chosen.problem) };
  const { value } = chosen;
  if (value === '' || value === noneChoice)
    return { ...withoutEnvironment, isKnown: value !== '' || environments.choices.length === 0, problem: null };
  const inherited = await readInherited(visit, value);
  return inherited
    ? { environments, environmentId: value, inherited, isKnown: true, problem: null }
    : { ...withoutEnvironment, isKnown: false, problem: isFixed ? fixedEnvironmentLost : unknownEnvironment };
}

const unknownEnvironment = "It doesn't exist, or you may not have access to it. Choose another one.";
const fixedEnvironmentLost =
  "The environment doesn't exist any more, or you may not have access to it, so this cannot run there again. Run the template anew, in another environment.";
