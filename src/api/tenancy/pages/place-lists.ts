import { readEnvironmentChoices } from '#api/environments/pages/environment-choices.ts';
import { readTeamChoices } from '#api/projects/pages/team-choices.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isId } from '#domain/shared/ids.ts';
import type { Names } from '#domain/tenancy/names-store.ts';

/** Fields that name teams and environments: a list of ids behind names, and a choice that adds one. */
export async function readPlaceFields(visit: Visit, hintOf: (noun: string) => string): Promise<FormField[]> {
  const [teams, environments] = await Promise.all([readTeamChoices(visit), readEnvironmentChoices(visit)]);
  return [
    listField('team_ids', 'Teams', hintOf('team')),
    addingField('add_team', 'Add a team', teams),
    listField('environment_ids', 'Environments', hintOf('environment')),
    addingField('add_environment', 'Add an environment', environments),
  ];
}

function listField(name: string, label: string, hint: string): FormField {
  return { name, label, kind: 'area', isOptional: true, hint };
}

function addingField(name: string, label: string, { choices, isCut, choiceKinds }: Choices): FormField {
  return {
    name,
    label,
    kind: 'select',
    isOptional: true,
    choices: [{ value: '', label: 'None' }, ...choices],
    isCut,
    choiceKinds,
    hint: 'Adds it to the list above when you save.',
  };
}

/** What a list of such ids says in its field. */
export function listPlaces(ids: readonly string[], names: Names): string {
  return ids.map((id) => `${names.get(id)?.name ?? ''} ${id}`.trim()).join('\n');
}

/** The ids that were typed for `team_ids` or `environment_ids`, with the one that was chosen. The operation says what is wrong with anything else. */
export function readPlaces(typed: Typed, kind: 'team' | 'environment'): string[] {
  const lines = (typed[`${kind}_ids`] ?? '').split('\n').flatMap((line) => line.trim() || []);
  const added = typed[`add_${kind}`]?.trim();
  return [...new Set([...lines.flatMap(idsOfLine), ...(added ? [added] : [])])];
}

/** A line has ids alone, or one id behind its name. */
function idsOfLine(line: string): string[] {
  const words = line.split(/\s+/);
  const last = words.at(-1) ?? '';
  return isId(last) && !words.every(isId) ? [last] : words;
}
