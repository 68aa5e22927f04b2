import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { loadVersionById, type PublishedVersion } from '#domain/registry/publication/published.ts';
import { maskVariables } from '#domain/registry/variables/variables.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import { invalidField, Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer, splitPointer } from '#domain/shared/values/json-pointer.ts';
import type { ResetCause, ResetValue, VariableReset } from '../../reset-model.ts';
import { type Deployment, findDeployment } from '../deployment.ts';
import type { RunRequest } from '../run-request.ts';
import type { AdmissionTarget } from '../target.ts';
import type { RunInputs } from './inputs.ts';

/** Explains and checks what a run takes over from a deployment or an earlier run, what it leaves out of that, and what it resets. */

interface Work {
  readonly version: PublishedVersion;
  readonly request: RunRequest;
  readonly inherited: Deployment | null;
}

interface VariableProblem {
  readonly path: string;
  readonly message: string;
}

/**
 * Refuses a run that starts from the deployment and would silently lose a secret. Values of `deployment` that have become secret since
 * count as secrets too.
 * @throws Unprocessable `variables_invalid` naming the secrets
 */
export function refuseLostSecrets(given: RunInputs, { version, request }: Work, deployment: Deployment | null): void {
  const { source } = request;
  if (!source?.deployed || !deployment) return;
  const declared = propertiesOf(version.spec.variables);
  const { variables, sensitive } = deployment.inputs;
  const lost = [...new Set(sensitive)].filter(
    (name) => Object.hasOwn(variables, name) && Object.hasOwn(declared, name) && !Object.hasOwn(given.variables, name),
  );
  if (lost.length === 0) return;
  const errors = lost.map((name) => ({
    path: `/${escapePointer(name)}`,
    message:
      'is a secret of the deployment that the environment or a variable set gave, and that neither gives any longer: give it again, or name it in omit',
  }));
  throw new Unprocessable(describeProblems(errors), { code: 'variables_invalid', details: { errors } });
}

/** Adds to the problem of a value that does not fit the version that the value comes from the deployment. */
export function explainTakenOver<Problem extends VariableProblem>(
  errors: readonly Problem[],
  { request, inherited }: Work,
): Problem[] {
  if (!request.source?.deployed) return [...errors];
  const isTakenOver = (name: string | undefined) =>
    name !== undefined &&
    Object.hasOwn(inherited?.inputs.variables ?? {}, name) &&
    !Object.hasOwn(request.variables, name);
  return errors.map((error) =>
    isTakenOver(splitPointer(error.path)[0])
      ? { ...error, message: `${error.message} (the value is the one that is deployed: name another one, or omit it)` }
      : error,
  );
}

export function describeProblems(errors: readonly VariableProblem[]): string {
  return `variables: ${errors.map(({ path, message }) => `${path || '/'} ${message}`).join('; ')}`;
}

/**
 * The variables of the deployment that an apply or its plan resets, since the request does not name them. A run that repeats another one
 * names all variables.
 */
export async function readResets(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  { version, request, inherited, inputs, instance }: Work & { readonly inputs: RunInputs; readonly instance: string },
): Promise<readonly VariableReset[]> {
  const { operation, source, variables } = request;
  if ((operation !== 'apply' && operation !== 'plan') || (source && !source.deployed)) return [];
  const deployed = source?.deployed ?? (await findDeployment(em, keyRing, target, instance));
  if (!deployed || deployed.isRemoved) return [];
  const versions = { before: await loadVersionById(em, deployed.versionId), after: version };
  return findResets({ deployed, versions, isNamed: (name) => Object.hasOwn(variables, name), inherited, inputs });
}

/** @throws Invalid for a variable that the request both omits and sets */
export function refuseOmittedAndGiven(omit: readonly string[], given: Readonly<Record<string, JsonValue>>): void {
  const name = omit.find((each) => Object.hasOwn(given, each));
  if (name === undefined) return;
  throw invalidField('omit', `the request gives the variable ${JSON.stringify(name)}: name it in variables or in omit`);
}

/**
 * Refuses names that can only be mistakes, unless the request accepts them. A variable that the version declares is never a mistake, even
 * if the source does not have it: whether it does depends on earlier runs, such as the run that the same request started.
 * @param absent the names to omit that the source, or the deployment that a destroy removes, does not have
 * @throws Unprocessable `variables_invalid` with each name
 */
export function refuseUnknownOmitted(
  { spec, version }: PublishedVersion,
  { source, acceptsUnknownOmit = false }: RunRequest,
  absent: readonly string[],
): void {
  if (acceptsUnknownOmit) return;
  const declared = propertiesOf(spec.variables);
  const unknown = absent.filter((name) => !Object.hasOwn(declared, name));
  if (unknown.length === 0) return;
  const errors = unknown.map((name) => ({
    path: `/${escapePointer(name)}`,
    message: `is named in omit, but neither ${source && !source.deployed ? 'the run' : 'the deployment'} nor version ${version} has such a variable`,
  }));
  throw new Unprocessable(describeProblems(errors), { code: 'variables_invalid', details: { errors } });
}

/**
 * Splits the names to omit into those that the inputs have (`omitted`) and those that they do not have (`omittedAbsent`), and returns the
 * inputs without them.
 */
export function omitNames(inputs: RunInputs, names: readonly string[]) {
  const isLeft = ([name]: readonly [string, unknown]) => !names.includes(name);
  return {
    omitted: names.filter((name) => Object.hasOwn(inputs.variables, name)),
    omittedAbsent: names.filter((name) => !Object.hasOwn(inputs.variables, name)),
    inputs: {
      ...inputs,
      variables: Object.fromEntries(Object.entries(inputs.variables).filter(isLeft)),
      sources: Object.fromEntries(Object.entries(inputs.sources ?? {}).filter(isLeft)),
      reads: (inputs.reads ?? []).filter(({ variable }) => !names.includes(variable)),
    },
  };
}

/** Longer values, in characters of their JSON, are left out here: the variables of the run and of the deployment already contain them. */
const maxValue = 2000;
const maxResets = 500;

interface Compared {
  readonly deployed: Deployment;
  /** The version of the deployment, and that of the run. */
  readonly versions: { readonly before: PublishedVersion; readonly after: PublishedVersion };
  /** Whether the request names a variable. */
  readonly isNamed: (name: string) => boolean;
  /** The inputs that the run copies from the deployment; null: none. */
  readonly inherited: Deployment | null;
  /** The inputs of the run, defaults included. */
  readonly inputs: RunInputs;
}

/** The variables that a run resets because its request does not name them, secrets of the environment that were rotated included. */
function findResets({ deployed, versions, isNamed, inherited, inputs }: Compared): VariableReset[] {
  const declared = propertiesOf(versions.after.spec.variables);
  const before = maskedOf(versions.before, deployed.inputs);
  const after = maskedOf(versions.after, inputs);
  const resets = Object.keys(deployed.inputs.variables).flatMap((variable): VariableReset[] => {
    const isKept = inherited !== null && Object.hasOwn(inherited.inputs.variables, variable);
    const isDeclared = Object.hasOwn(declared, variable);
    if (isNamed(variable) || (isKept && isDeclared)) return [];
    const old = before(variable);
    const cause = isDeclared ? causeOf(inputs, variable) : 'not_declared';
    const hasValue = isDeclared && Object.hasOwn(inputs.variables, variable);
    if (!hasValue) return [{ variable, cause, before: old, after: null }];
    const now = after(variable);
    const isSecret = 'sensitive' in old || 'sensitive' in now;
    if (isDeepStrictEqual(deployed.inputs.variables[variable], inputs.variables[variable])) return [];
    return [
      isSecret ? { variable, cause, before: secret, after: secret } : { variable, cause, before: old, after: now },
    ];
  });
  return resets.slice(0, maxResets);
}

const secret = { sensitive: true } as const;

function causeOf(inputs: RunInputs, variable: string): ResetCause {
  if (!Object.hasOwn(inputs.variables, variable)) return 'not_set';
  return isGivenByEnvironment(inputs, variable) ? 'environment' : 'default';
}

function isGivenByEnvironment({ sources = {} }: RunInputs, variable: string): boolean {
  return Object.hasOwn(sources, variable);
}

function maskedOf({ spec }: PublishedVersion, { variables, sensitive }: RunInputs) {
  const masked = maskVariables(spec.variables, variables, sensitive);
  return (name: string): ResetValue => {
    if (masked[name] !== variables[name]) return secret;
    const value = variables[name] ?? null;
    return JSON.stringify(value).length > maxValue ? { truncated: true } : { value };
  };
}
