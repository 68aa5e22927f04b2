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

/** The environment of the form's run. */
export interface TargetEnvironment {
  readonly environments: Choices;
  /** Empty: in no environment, or in an unknown one. */
  readonly environmentId: string;
  /** Whether the visitor chose an environment, or explicitly chose none. */
  readonly isKnown: boolean;
  /** For variables whose default does not apply when they are left empty: what applies instead. */
  readonly inherited: InheritedValues;
  /** Why the choice is not possible, or why the run cannot run in its environment again; null if it can. */
  readonly problem: string | null;
}

/** The subject of the form. */
interface Subject {
  readonly template: ShownTemplate;
  readonly source: SourceRun | null;
  readonly deployed: DeployedFacts | null;
}

/**
 * Reads the environment of the form's run. `typed` is the choice in the form or in the address. A run that is copied or deployed again
 * stays in its environment.
 */
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
