import { readEnvironmentChoices } from '#api/environments/pages/environment-choices.ts';
import { list as listVariables } from '#api/environments/variable-operations.ts';
import { type Choices, unchosen } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { readChoice } from '#api/web/forms/named-choices.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { toSentence } from '#api/web/text.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { ShownTemplate } from '../shown.ts';
import type { DeployedFacts } from './deployed.ts';
import type { RunFormVisit, SourceRun } from './form-visit.ts';

/** The choice of a run without an environment, which must be meant: such a run may belong to nobody. */
export const noEnvironment = 'none';

/** Where a run of the form deploys. */
export interface Place {
  readonly environments: Choices;
  /** Empty: in no environment, or in none that is known. */
  readonly environmentId: string;
  /** Whether the visitor chose an environment, or chose to have none. */
  readonly isKnown: boolean;
  /** What applies to a variable that is left empty instead of its default, by its slot. */
  readonly inherited: ReadonlyMap<string, string>;
  /** Why what was chosen cannot be; null if it can. */
  readonly problem: string | null;
}

/** What the form works on. */
interface Subject {
  readonly template: ShownTemplate;
  readonly source: SourceRun | null;
  readonly deployed: DeployedFacts | null;
}

/** The field that chooses the environment, without what was chosen. */
export function environmentField({ choices, ...cut }: Choices): FormField {
  return {
    name: 'environment_id',
    label: 'Environment',
    kind: 'select',
    ...cut,
    choices: [
      ...(choices.length > 0 ? [unchosen] : []),
      { value: noEnvironment, label: 'None: outside any environment' },
      ...choices,
    ],
  };
}

/** Reads where a run of the form deploys. `typed` is what was chosen, or what the address names; a run that is copied or deployed again stays where it is. */
export async function readPlace(
  visit: RunFormVisit,
  { template, source, deployed }: Subject,
  typed = '',
): Promise<Place> {
  const isFixed = Boolean(source ?? deployed);
  const fixed = (source ? source.environment_id : deployed?.environmentId) || noEnvironment;
  const text = isFixed ? fixed : typed;
  const teamId = template.team_id ?? visit.scope.teamId;
  const environments = await readEnvironmentChoices(visit, { teamId, alsoId: text });
  const chosen = isFixed ? { value: text } : await readChoice(visit, environmentField(environments), text);
  const nowhere = { environments, environmentId: '', inherited: new Map<string, string>() };
  if ('problem' in chosen) return { ...nowhere, isKnown: false, problem: toSentence(chosen.problem) };
  const { value } = chosen;
  if (value === '' || value === noEnvironment)
    return { ...nowhere, isKnown: value !== '' || environments.choices.length === 0, problem: null };
  const given = await orNull(visit.read(listVariables, { params: { id: value }, query: { limit: '200' } }));
  if (!given) return { ...nowhere, isKnown: false, problem: unknownEnvironment };
  const label = environments.choices.find((each) => each.value === value)?.label ?? 'the environment';
  const inherited = describeInherited(given.variables, label);
  return { environments, environmentId: value, isKnown: true, inherited, problem: null };
}

const unknownEnvironment = "It doesn't exist, or you may not have access to it. Choose another one.";

interface GivenVariable {
  readonly name: string;
  readonly category: string;
  readonly sensitive: boolean;
  readonly value: unknown;
}

/** The defaults that the environment sets, in words. */
export function describeInherited(variables: readonly GivenVariable[], environment: string): Map<string, string> {
  const defaults = variables.filter(({ category }) => category === 'template');
  return new Map(
    defaults.map(({ name, sensitive, value }) => {
      const shown = sensitive ? 'a secret value' : shorten(value as Parameters<typeof shorten>[0]);
      return [slots.member('', name), `${environment} sets ${shown}`];
    }),
  );
}
