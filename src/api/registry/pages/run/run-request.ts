import { parsePart } from '#api/edge/json/validation.ts';
import { CreateRun } from '#api/runs/bodies.ts';
import { createRun } from '#api/runs/operations.ts';
import { copy } from '#api/runs/repeat-operations.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import type { ValueProblem } from '#api/web/forms/schema/value.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { validate } from '../../version-operations.ts';
import type { Values } from './compared.ts';
import type { DeployedFacts, RunFormVisit } from './deployed.ts';
import { findChanges, findOwnSecrets, findSecretsToGiveUp } from './differences.ts';
import { type RunFacts, runsDeployedVersion } from './facts.ts';
import { joinProblems, variableProblems } from './run-form.ts';
import { hiddenFields, type SentForm } from './submission.ts';

type Basic = SentForm['basic'];

/**
 * Finds what admission would refuse, before anything is confirmed: invalid fields of the form, and values that break the rules of the
 * version. Missing values are left to admission, which knows the values of the environment and of the deployment. Null if there is nothing.
 */
export async function findEarlyProblems(
  visit: RunFormVisit,
  facts: RunFacts,
  {
    basic,
    values,
    unread,
  }: { readonly basic: Basic; readonly values: Values; readonly unread: readonly ValueProblem[] },
): Promise<FormProblems | null> {
  const names = Object.keys(basic).filter((name) => !hiddenFields.some((hidden) => hidden === name));
  const checked = await submit(visit, names, async () => {
    const { error } = parsePart(CreateRun, 'body', { ...bodyOf(facts, basic), template_id: visit.params.id });
    if (error) throw error;
  });
  const invalid = [...unread, ...(await findInvalid(visit, facts, { basic, values, unread }))];
  return joinProblems(invalid.length > 0 ? variableProblems(invalid) : null, checked.done ? null : checked.problems);
}

/**
 * The values that do not match the schema of the version. Nothing is checked for a destroy, which may run another version than the one that
 * is shown.
 */
async function findInvalid(
  visit: RunFormVisit,
  { version }: RunFacts,
  {
    basic,
    values,
    unread,
  }: { readonly basic: Basic; readonly values: Values; readonly unread: readonly ValueProblem[] },
): Promise<ValueProblem[]> {
  if (version === null || basic.operation === 'destroy') return [];
  const params = { id: visit.params.id, version: version.version };
  const { errors } = await visit.read(validate, { params, body: { variables: values } });
  return errors
    .filter(({ path }) => Object.hasOwn(values, splitPointer(path)[0] ?? ''))
    .filter(({ path }) => !unread.some(({ pointer }) => pointer === path))
    .map(({ path, message }) => ({ pointer: path, message }));
}

/** Requests the form's run: a copy of an earlier run, a run from the deployment, or a new one. */
export function requestRun(
  visit: RunFormVisit,
  facts: RunFacts,
  { basic, omitted }: Pick<SentForm, 'basic' | 'omitted'>,
  variables: Values,
) {
  const { source, deployed, environmentId } = facts;
  const body = { ...bodyOf(facts, basic), variables };
  if (source) {
    const before = Object.keys(source.prefill?.variables ?? {});
    const given = findSecretsToGiveUp(facts, source).filter(({ name }) => omitted.includes(name));
    const names = [...before, ...given.map(({ name }) => name)];
    const omit = names.filter((name) => !Object.hasOwn(variables, name));
    return visit.run(copy, { params: { id: source.id }, body: { ...body, omit } });
  }
  const start = deployed
    ? fromDeployed({ ...facts, deployed }, variables, { omitted, isDestroy: basic.operation === 'destroy' })
    : environmentId && { environment_id: environmentId };
  return visit.run(createRun, { body: { ...body, ...start, template_id: visit.params.id } });
}

/** The members that every request for a run has. */
function bodyOf(facts: RunFacts, basic: Basic): object {
  const { version } = facts;
  const isDestroy = basic.operation === 'destroy';
  return {
    operation: basic.operation,
    replace: toAddresses(basic.replace),
    options: toOptions(basic),
    message: basic.message,
    ...(isDestroy && isYes(basic.despite_dependents) && { despite_dependents: true }),
    // Every other run uses the version whose form was filled in.
    ...(version && !runsDeployedVersion(facts, basic) && { version: version.version }),
    ...(basic.instance && { instance: basic.instance }),
  };
}

/**
 * The request for a run that starts from the deployment. It drops deployed secrets and, unless it is a destroy, variables that were
 * emptied.
 */
function fromDeployed(
  facts: RunFacts & { readonly deployed: DeployedFacts },
  variables: Values,
  { omitted, isDestroy }: { readonly omitted: readonly string[]; readonly isDestroy: boolean },
): object {
  const { deployed, root } = facts;
  const { variables: changed, omit: emptied } = findChanges(deployed, root, variables);
  const given = findOwnSecrets(facts, deployed).filter(({ name }) => omitted.includes(name) && !(name in changed));
  const omit = [...(isDestroy ? [] : emptied), ...given.map(({ name }) => name)];
  return {
    instance: deployed.instance.name,
    ...(deployed.environmentId && { environment_id: deployed.environmentId }),
    variables_from: 'deployed',
    variables: changed,
    ...(omit.length > 0 && { omit }),
  };
}

function toAddresses(lines: string): string[] {
  return lines.split('\n').flatMap((line) => line.trim() || []);
}

/** The options of the body. An empty one has its default. */
function toOptions(basic: Basic): object {
  return {
    target: toAddresses(basic['options.target']),
    exclude: toAddresses(basic['options.exclude']),
    ...(basic['options.refresh'] === 'no' && { refresh: false }),
    ...(basic['options.log_level'] !== '' && { log_level: basic['options.log_level'] }),
    ...(basic['options.parallelism'] !== '' && { parallelism: Number(basic['options.parallelism']) }),
  };
}

/** The form's fields for the options of an earlier run. */
export function fillOptions(options: NonNullable<RunFacts['source']>['options'] | undefined): Partial<Basic> {
  if (!options) return {};
  return {
    'options.target': options.target.join('\n'),
    'options.exclude': options.exclude.join('\n'),
    'options.refresh': options.refresh ? '' : 'no',
    'options.parallelism': String(options.parallelism ?? ''),
    'options.log_level': options.log_level ?? '',
  };
}
