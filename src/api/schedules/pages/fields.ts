import { list as listAssemblies } from '#api/assemblies/operations.ts';
import { operationLabels as assemblyLabels } from '#api/assemblies/pages/views.ts';
import { get as getEnvironment, list as listEnvironments } from '#api/environments/operations.ts';
import { addTeamProblem } from '#api/environments/pages/team-problem.ts';
import { operationLabels } from '#api/registry/pages/run/basic-fields.ts';
import { keepAllowed } from '#api/tenancy/pages/allowed-owners.ts';
import { nameEnvironments } from '#api/tenancy/pages/environment-choices.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { choicesOf } from '#api/web/forms/fields/named-things.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { readWords } from '#api/web/forms/word-list.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { invalidField, Unprocessable } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { describeJsonProblem, parseStrictJson } from '#domain/shared/values/strict-json.ts';
import { create } from '../operations.ts';
import { refuseSilentResets } from './resets.ts';
import type { ListedSchedule } from './schedule-view.ts';
import { readRunnableTemplates, withoutMasks } from './work-schema.ts';

export type WorkKind = 'run' | 'assembly_run';

/** The fields for the work of a schedule and its place. */
export async function workFields(visit: Visit, kind: WorkKind, work?: ListedSchedule['work']): Promise<FormField[]> {
  const at = (name: string) => `work.${kind}.${name}`;
  const run = work && 'run' in work ? work.run : undefined;
  const assembly = work && 'assembly_run' in work ? work.assembly_run : undefined;
  const known = run ?? assembly;
  const scope = scopeQuery(visit.scope);
  const thing = kind === 'run' ? 'template' : 'assembly';
  const chosenId = run?.template_id ?? assembly?.assembly_id ?? visit.query(`${thing}_id`);
  const [what, places] = await Promise.all([
    kind === 'run' ? readRunnableTemplates(visit, chosenId) : readAssemblies(visit, scope),
    readEnvironments(visit, scope),
  ]);
  return [
    {
      name: at(`${thing}_id`),
      label: kind === 'run' ? 'Template' : 'Assembly',
      kind: 'select',
      ...what,
      value: chosenId,
    },
    {
      name: at('environment_id'),
      label: 'Environment',
      kind: 'select',
      ...places,
      value: known?.environment_id ?? visit.query('environment_id'),
    },
    {
      name: at('operation'),
      label: 'Operation',
      kind: 'select',
      choices: kind === 'run' ? choicesFrom(operationLabels) : choicesFrom(assemblyLabels),
      value: known?.operation ?? 'apply',
    },
    ...(kind === 'run'
      ? [
          {
            name: at('instance'),
            label: 'Instance',
            isOptional: true,
            value: run?.instance ?? '',
            hint: 'Default: the slug of the template.',
          },
          {
            name: at('variables_from'),
            label: 'Variables left empty',
            kind: 'select' as const,
            choices: startChoices,
            value: run ? (run.variables_from ?? 'defaults') : '',
          },
          ...(run?.omit?.length ? [omitField(at('omit'), run.omit)] : []),
        ]
      : []),
    {
      name: at('version'),
      label: 'Version',
      isOptional: true,
      value: known?.version ?? '',
      hint: 'A version, a range such as ^1.2, or latest.',
    },
    ...(kind === 'assembly_run' ? [jsonField(at('variables'), known?.variables)] : []),
    {
      name: at('message'),
      label: 'Message',
      isOptional: true,
      value: known?.message ?? '',
      hint: 'Shown on every run that the schedule starts.',
    },
  ];
}

/** The last choice is the default for a new form. If something is deployed, the form then asks. */
const startChoices = [
  { value: 'deployed', label: 'Keep the deployed values' },
  { value: 'defaults', label: 'Take the default values, or those of the environment' },
  { value: '', label: 'Not decided: the form asks if something is deployed' },
];

const choicesFrom = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/**
 * The field for deployed variables that starts leave out. The form shows them because the operation refuses a name that is no longer
 * deployed.
 */
function omitField(name: string, omit: readonly string[]): FormField {
  return {
    name,
    label: 'Deployed variables that are left out',
    kind: 'area',
    isWordList: true,
    isOptional: true,
    value: omit.join('\n'),
    hint: 'One name per line. A start does not take them over from what is deployed.',
  };
}

/** The field for the variables of an assembly. */
function jsonField(name: string, variables: Readonly<Record<string, unknown>> | undefined): FormField {
  const plain = withoutMasks(variables);
  return {
    name,
    label: 'Variables',
    kind: 'code',
    isOptional: true,
    isSecret: true,
    value: Object.keys(plain).length > 0 ? JSON.stringify(plain, null, 2) : '',
    hint: 'A JSON object. Secret values are not shown: enter them again.',
  };
}

/** The parts of the work that are not plain fields of the form. */
interface EnteredWork {
  /** The variables of a template. */
  readonly variables: Readonly<Record<string, JsonValue>>;
  /** The saved work. Parts of it without a field stay as they are. */
  readonly saved?: ListedSchedule['work'];
}

/** Reads the body's `work`, and the team of its environment, to which the schedule belongs. */
export async function readWork(
  visit: Visit,
  kind: WorkKind,
  typed: Typed,
  { variables: entered, saved }: EnteredWork,
): Promise<{ teamId: string; work: object }> {
  const prefix = `work.${kind}.`;
  const named = Object.entries(typed).filter(([name, value]) => name.startsWith(prefix) && value !== '');
  const {
    variables,
    variables_from: choice = '',
    omit,
    ...fields
  } = Object.fromEntries(named.map(([name, value]) => [name.slice(prefix.length), value]));
  const written = variables?.trim() ? parseObject(visit, `${prefix}variables`, variables) : {};
  const { environment_id: id = '', template_id = '', assembly_id: assembly, operation = '' } = fields;
  const place = `${prefix}environment_id`;
  // The team of a schedule is that of its environment.
  if (!isId(id)) visit.addMissing(place, 'choose an environment', place, 'team_id');
  const teamId = isId(id) ? (await visit.read(getEnvironment, { params: { id } })).team_id : '';
  await addTeamProblem(visit, { template: template_id, assembly, environment: id, field: place });
  const start = choice === 'deployed' && fields['operation'] !== 'destroy' ? { variables_from: choice } : {};
  const kept = keptOf(saved, { ...fields, ...start });
  // A variable with an entered value is not left out.
  const left = readWords(omit).filter((name) => !Object.hasOwn(entered, name));
  const asked = {
    ...kept,
    ...fields,
    ...start,
    ...('variables_from' in start && left.length > 0 && { omit: left }),
    variables: kind === 'run' ? entered : written,
  };
  if (kind === 'run' && isId(id) && isId(template_id))
    await refuseSilentResets(visit, { ...asked, template_id, operation }, choice);
  return { teamId, work: { [kind]: asked } };
}

/** The options of the saved work. They are kept only if the new work applies the same template or assembly. */
function keptOf(
  saved: ListedSchedule['work'] | undefined,
  fields: Readonly<Record<string, string | undefined>>,
): object {
  if (!saved) return {};
  if ('run' in saved) {
    const { replace, options, template_id: id } = saved.run;
    return id === fields['template_id'] && fields['operation'] === 'apply' ? { replace, options } : {};
  }
  const { only, assembly_id: id } = saved.assembly_run;
  return only && id === fields['assembly_id'] ? { only } : {};
}

/** Runs a command. Shows an error about the variables of an assembly at their field, with the path of the variable. */
export async function placingVariables<Done>(kind: WorkKind, work: () => Promise<Done>): Promise<Done> {
  try {
    return await work();
  } catch (error) {
    if (kind === 'run' || !(error instanceof Unprocessable) || error.code !== 'variables_invalid') throw error;
    throw invalidField(`work.${kind}.variables`, error.message.replace(/^variables: /, ''));
  }
}

function parseObject(visit: Visit, field: string, text: string): Record<string, unknown> {
  const parsed = parseStrictJson(text);
  if (!parsed.ok) {
    visit.addProblem(field, describeJsonProblem(parsed.problem));
    return {};
  }
  const { value } = parsed;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  visit.addProblem(field, 'expected a JSON object, such as {"size": 3}');
  return {};
}

async function readAssemblies(visit: Visit, scope: object): Promise<Choices> {
  const { assemblies, next_cursor: next } = await visit.read(listAssemblies, { query: { ...scope, limit: '200' } });
  return choicesOf(visit.em, { things: await keepAllowed(visit, create, assemblies), next, kind: 'assembly' });
}

async function readEnvironments(visit: Visit, scope: object): Promise<Choices> {
  const { environments, next_cursor: next } = await visit.read(listEnvironments, { query: { ...scope, limit: '200' } });
  return nameEnvironments(visit, await keepAllowed(visit, create, environments), next);
}
