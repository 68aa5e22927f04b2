import { list as listEnvironments } from '#api/environments/operations.ts';
import { readTeamChoices } from '#api/projects/pages/team-choices.ts';
import { type Choices, choicesOf } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { readWords } from '#api/web/forms/word-list.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isId } from '#domain/shared/ids.ts';
import { type Names, readNames } from '#domain/tenancy/names-store.ts';
import type { Pool } from './workers.ts';

/** The fields of what a pool may be used for. */
export async function readRuleFields(visit: Visit): Promise<FormField[]> {
  const [teams, { environments, next_cursor: next }] = await Promise.all([
    readTeamChoices(visit),
    visit.read(listEnvironments, { query: { limit: '200' } }),
  ]);
  return [
    listField('team_ids', 'Teams', 'team'),
    addingField('add_team', 'Add a team', teams),
    listField('environment_ids', 'Environments', 'environment'),
    addingField('add_environment', 'Add an environment', await nameWithProjects(visit, environments, next)),
    ...otherFields,
  ];
}

/** Names of environments repeat from project to project. */
async function nameWithProjects(
  visit: Visit,
  environments: readonly { id: string; name: string; project_id: string }[],
  next: string | null,
): Promise<Choices> {
  const names = await readNames(visit.em, { projects: environments.map((each) => each.project_id) });
  const labelled = environments.map(({ id, name, project_id: project }) => ({
    id,
    name: `${names.get(project)?.name ?? ''} / ${name}`,
  }));
  return choicesOf(labelled, next);
}

function listField(name: string, label: string, noun: string): FormField {
  const hint = `The ids of those that may use it, one in a line, each behind its name if you like. Empty: all ${noun}s. The word none: no ${noun}.`;
  return { name, label, kind: 'area', isOptional: true, hint };
}

function addingField(name: string, label: string, { choices, isCut }: Choices): FormField {
  return {
    name,
    label,
    kind: 'select',
    isOptional: true,
    choices: [{ value: '', label: 'None' }, ...choices],
    isCut,
    hint: 'Adds it to the list above when you save.',
  };
}

const otherFields: FormField[] = [
  {
    name: 'isolation',
    label: 'Workers',
    kind: 'select',
    choices: [
      { value: '', label: 'Any worker executes its runs' },
      { value: 'sandbox', label: 'Only workers with a sandbox' },
    ],
  },
  {
    name: 'egress.policy',
    label: 'Template code reaches',
    kind: 'select',
    value: 'internet',
    choices: [
      { value: 'internet', label: 'The internet' },
      { value: 'allow', label: 'Only the places below' },
      { value: 'none', label: 'Nothing' },
    ],
  },
  {
    name: 'egress.allow',
    label: 'Named places',
    kind: 'area',
    isWordList: true,
    isOptional: true,
    hint: 'One in a line, such as registry.opentofu.org:443 or 10.0.0.0/8.',
  },
];

/** What the fields say of a pool that exists. `names` has the names of its teams and environments. */
export function toTyped({ team_ids, environment_ids, isolation, egress }: Pool, names: Names): Record<string, string> {
  const nameLine = (id: string) => `${names.get(id)?.name ?? ''} ${id}`.trim();
  const list = (ids: readonly string[] | null) =>
    ids === null ? '' : ids.length === 0 ? 'none' : ids.map(nameLine).join('\n');
  return {
    team_ids: list(team_ids),
    environment_ids: list(environment_ids),
    isolation: isolation ?? '',
    'egress.policy': egress.policy,
    'egress.allow': egress.allow.join('\n'),
  };
}

/** The rules of a pool, from what was typed. */
export function toRules(typed: Typed): Record<string, unknown> {
  return {
    team_ids: toIds(typed['team_ids'], typed['add_team']),
    environment_ids: toIds(typed['environment_ids'], typed['add_environment']),
    isolation: typed['isolation'] || null,
    egress: { policy: typed['egress.policy'], allow: readWords(typed['egress.allow']) },
  };
}

/** The ids of a list; null: it is empty, so it names all. */
function toIds(list = '', added = ''): string[] | null {
  const lines = list.split('\n').flatMap((line) => line.trim() || []);
  const isNone = lines.length === 1 && lines[0] === 'none';
  const ids = [...(isNone ? [] : lines.flatMap(idsOfLine)), ...(added.trim() ? [added.trim()] : [])];
  return ids.length === 0 && !isNone ? null : [...new Set(ids)];
}

/** A line has ids alone, or one id behind its name. The operation says what is wrong with anything else. */
function idsOfLine(line: string): string[] {
  const words = line.split(/\s+/);
  const last = words.at(-1) ?? '';
  return isId(last) && !words.every(isId) ? [last] : words;
}
