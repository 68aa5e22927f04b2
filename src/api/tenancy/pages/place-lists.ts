import { type Choices, nameOfChoice, valuesOfName } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readReadableNames } from '#domain/search/search-store.ts';
import { isId } from '#domain/shared/ids.ts';
import { readEnvironmentChoices } from './environment-choices.ts';
import { readTeamChoices } from './team-choices.ts';

type Kind = 'team' | 'environment';

/**
 * Fields for teams and environments: a list of names, and a choice that adds one. Hidden fields contain the ids to which the listed names
 * belonged when the form was opened.
 */
export async function readPlaceFields(visit: Visit, hintOf: (noun: string) => string): Promise<FormField[]> {
  const [teams, environments] = await Promise.all([readChoices(visit, 'team'), readChoices(visit, 'environment')]);
  return [
    listField('team_ids', 'Teams', hintOf('team')),
    listedField('team'),
    addingField('add_team', 'Add a team', teams),
    listField('environment_ids', 'Environments', hintOf('environment')),
    listedField('environment'),
    addingField('add_environment', 'Add an environment', environments),
  ];
}

/** The choices of a visit. They are cached, because reading them takes many queries, and several functions need them. */
const choicesOfVisits = new WeakMap<Visit, Partial<Record<Kind, Promise<Choices>>>>();

function readChoices(visit: Visit, kind: Kind): Promise<Choices> {
  const known = choicesOfVisits.get(visit) ?? {};
  choicesOfVisits.set(visit, known);
  known[kind] ??= kind === 'team' ? readTeamChoices(visit) : readEnvironmentChoices(visit);
  return known[kind];
}

function listedName(kind: Kind): string {
  return `listed_${kind}s`;
}

/** A hidden field for the listed ids. If they change while the form is open, the browser still keeps what was typed. */
function listedField(kind: Kind): FormField {
  return { name: listedName(kind), label: '', kind: 'hidden', isUnkept: true };
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

/**
 * The values of the fields of a list, one name a line. If a name is ambiguous, its id follows. If the visitor may not read a name, the line
 * is the id alone. The hidden field has the id of each line, because a name may belong to something else when the form is sent.
 */
export async function listPlaces(visit: Visit, kind: Kind, ids: readonly string[]): Promise<Record<string, string>> {
  if (ids.length === 0) return {};
  const { choices } = await readChoices(visit, kind);
  const names = await readReadableNames(visit.em, visit.principal, kind, ids);
  const labelOf = (id: string) => {
    const label = nameOfChoice(choices, id);
    return label === id ? names.get(id) : label;
  };
  const labels = ids.flatMap((id) => labelOf(id) ?? []);
  const found = await visit.findNamed(labels, [kind]);
  const lines = ids.map((id) => {
    const label = labelOf(id);
    if (label === undefined) return id;
    const [only, ...others] = found(label);
    return only === id && others.length === 0 && idBehind(label) === null ? label : `${label} ${id}`;
  });
  const listed = ids.map((id, index) => `${id} ${lines[index]}`);
  return { [`${kind}_ids`]: lines.join('\n'), [listedName(kind)]: listed.join('\n') };
}

/** The id of each line that the form showed. */
function readListed(typed: Typed, kind: Kind): ReadonlyMap<string, string> {
  const pairs = linesOf(typed[listedName(kind)]).map((line) => {
    const [id = '', ...name] = line.split(' ');
    return [name.join(' '), id] as const;
  });
  return new Map(pairs.filter(([, id]) => isId(id)));
}

/**
 * Reads the ids for `team_ids` or `environment_ids`: those of the typed lines, and the one that was chosen. A line that matches nothing
 * adds a problem.
 */
export async function readListedOwners(visit: Visit, kind: Kind, typed: Typed): Promise<string[]> {
  const fields = [`${kind}_ids`, `add_${kind}`].map((field) => ({ field, lines: linesOf(typed[field]) }));
  const lines = fields.flatMap((each) => each.lines);
  if (lines.length > maxLines) {
    visit.addProblem(`${kind}_ids`, `has ${lines.length} lines: enter at most ${maxLines}`);
    return [];
  }
  const listed = readListed(typed, kind);
  const meant = await findMeant(
    visit,
    kind,
    lines.filter((line) => !listed.has(line) && !isListOfIds(line)),
  );
  const idsOf = (field: string, line: string) => {
    const known = listed.get(line) ?? (isListOfIds(line) ? line.split(/\s+/) : undefined);
    return known ?? onlyOne(visit, kind, { field, line }, meant(line));
  };
  return [
    ...new Set(fields.flatMap(({ field, lines: typedLines }) => typedLines.flatMap((line) => idsOf(field, line)))),
  ];
}

/** The maximum number of lines of a list, including the choice beside it. */
const maxLines = 200;

/** The lines of a field without duplicates and empty ones. */
export function linesOf(text = ''): string[] {
  return [...new Set(text.split('\n').flatMap((line) => line.trim() || []))];
}

function isListOfIds(line: string): boolean {
  return line.split(/\s+/).every(isId);
}

/** Splits a line into a name and the id after it; null if it does not end with an id. */
function idBehind(line: string): { readonly name: string; readonly id: string } | null {
  const [, name, id] = /^(.*\S)\s+(\S+)$/.exec(line) ?? [];
  return name !== undefined && id !== undefined && isId(id) ? { name, id } : null;
}

/**
 * The places that each line may mean: those with this name, and the one whose id follows its name. A name that itself ends with an id is
 * considered too. Otherwise, somebody who gives a team such a name could substitute another team for it.
 */
async function findMeant(visit: Visit, kind: Kind, lines: readonly string[]): Promise<(line: string) => string[]> {
  const { choices } = await readChoices(visit, kind);
  const behind = lines.flatMap((line) => idBehind(line) ?? []);
  const found = await visit.findNamed([...lines, ...behind.map(({ name }) => name)], [kind]);
  const called = (name: string) => [...valuesOfName(choices, name), ...found(name)];
  return (line) => {
    const byName = called(line);
    const named = idBehind(line);
    // If no place has the whole line as its name, the id counts even if its name has changed since.
    const byId = named && (byName.length === 0 || called(named.name).includes(named.id)) ? [named.id] : [];
    return [...new Set([...byName, ...byId])];
  };
}

/** The only place that a line may mean. If there are none or several, adds a problem. */
function onlyOne(visit: Visit, kind: Kind, { field, line }: { field: string; line: string }, meant: readonly string[]) {
  if (meant.length === 1) return meant;
  const owner = kind === 'team' ? 'organization' : 'project';
  const problem =
    meant.length === 0
      ? `no ${kind} that you may choose`
      : `several ${kind}s: put the name of the ${owner} and a slash before it, or enter the ID alone`;
  visit.addProblem(field, `${JSON.stringify(line.slice(0, 100))} matches ${problem}`);
  return [];
}
