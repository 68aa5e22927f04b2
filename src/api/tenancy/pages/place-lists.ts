import { readEnvironmentChoices } from '#api/environments/pages/environment-choices.ts';
import { readTeamChoices } from '#api/projects/pages/team-choices.ts';
import { type Choices, nameOfChoice, valueOfName } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isId } from '#domain/shared/ids.ts';
import { readNames } from '#domain/tenancy/names-store.ts';

type Kind = 'team' | 'environment';

/** Fields that name teams and environments: a list of names, and a choice that adds one. */
export async function readPlaceFields(visit: Visit, hintOf: (noun: string) => string): Promise<FormField[]> {
  const [teams, environments] = await Promise.all([readTeamChoices(visit), readEnvironmentChoices(visit)]);
  return [
    listField('team_ids', 'Teams', hintOf('team')),
    addingField('add_team', 'Add a team', teams),
    listField('environment_ids', 'Environments', hintOf('environment')),
    addingField('add_environment', 'Add an environment', environments),
  ];
}

function readPlaceChoices(visit: Visit, kind: Kind): Promise<Choices> {
  return kind === 'team' ? readTeamChoices(visit) : readEnvironmentChoices(visit);
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

/** What the field of a list says: one name a line. A name that does not tell a place from others has the id behind it. */
export async function listPlaces(visit: Visit, kind: Kind, ids: readonly string[]): Promise<string> {
  if (ids.length === 0) return '';
  const { choices } = await readPlaceChoices(visit, kind);
  const names = await readNames(visit.em, { [`${kind}s`]: ids });
  const lines = ids.map(async (id) => {
    const label = nameOfChoice(choices, id);
    if (label !== id) return label;
    const name = names.get(id)?.name ?? '';
    const [only, ...others] = name === '' ? [] : await visit.findNamed(name, [kind]);
    return only === id && others.length === 0 ? name : `${name} ${id}`.trim();
  });
  return (await Promise.all(lines)).join('\n');
}

/** The ids of the places that were typed for `team_ids` or `environment_ids`, and of the one that was chosen. A name that fits none has a problem. */
export async function readPlaces(visit: Visit, kind: Kind, typed: Typed): Promise<string[]> {
  const { choices } = await readPlaceChoices(visit, kind);
  const ids = new Set<string>();
  for (const field of [`${kind}_ids`, `add_${kind}`]) {
    const lines = (typed[field] ?? '').split('\n').flatMap((line) => line.trim() || []);
    for (const line of lines) {
      const known = idsOfLine(line) ?? valueOfName(choices, line);
      for (const id of known === undefined ? await findNamed(visit, kind, { field, line }) : [known].flat())
        ids.add(id);
    }
  }
  return [...ids];
}

async function findNamed(
  visit: Visit,
  kind: Kind,
  { field, line }: { field: string; line: string },
): Promise<string[]> {
  const found = await visit.findNamed(line, [kind]);
  if (found.length === 1) return found;
  const owner = kind === 'team' ? 'organization' : 'project';
  const problem =
    found.length === 0
      ? `no ${kind} that you may choose`
      : `several ${kind}s: put the name of the ${owner} and a slash before it`;
  visit.addProblem(field, `${JSON.stringify(line.slice(0, 100))} is the name of ${problem}`);
  return [];
}

/** A line may have ids alone, or one id behind its name; undefined: it has none. */
function idsOfLine(line: string): string[] | undefined {
  const words = line.split(/\s+/);
  const last = words.at(-1) ?? '';
  if (!isId(last)) return undefined;
  return words.every(isId) ? words : [last];
}
