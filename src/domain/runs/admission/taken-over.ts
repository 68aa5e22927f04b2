import type { Em } from '#database/database.ts';
import { loadVersionById, type PublishedVersion } from '#domain/registry/published.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { escapePointer, splitPointer } from '#domain/shared/values/json-pointer.ts';
import type { VariableReset } from '../reset-model.ts';
import { type Deployment, findDeployment } from './deployment.ts';
import type { RunInputs } from './inputs.ts';
import { findResets } from './resets.ts';
import type { RunRequest } from './run-request.ts';
import type { AdmissionTarget } from './target.ts';

/** Explains and checks what a run takes over from a deployment, and what it loses. */

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
