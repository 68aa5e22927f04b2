import type { Em } from '#database/database.ts';
import { VariableEvaluator } from '#domain/registry/evaluation/variable-evaluator.ts';
import type { PublishedVersion } from '#domain/registry/publication/published.ts';
import type { VariableError } from '#domain/registry/variables/errors.ts';
import { maskVariables, secretNames } from '#domain/registry/variables/variables.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type EnvironmentVariables, loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { raiseSecrets } from '../references/secret-outputs.ts';
import { SourceOutputs } from '../references/source-outputs.ts';
import { buildRun } from './build-run.ts';
import { chooseVersion, type Deployment, findDeployment, inheritFrom, isGivenOtherwise } from './deployment.ts';
import {
  describeProblems,
  explainTakenOver,
  omitNames,
  readResets,
  refuseLostSecrets,
  refuseOmittedAndGiven,
  refuseUnknownOmitted,
} from './inputs/inherited-inputs.ts';
import { secretHashOf } from './inputs/inputs.ts';
import { mergeInputs, readReferences, readRemoteStates } from './inputs/merge-inputs.ts';
import { refuseStrongPlanSecrets } from './inputs/plan-secrets.ts';
import { findRotated } from './inputs/rotated.ts';
import {
  findSecretsOf,
  giversOf,
  refuseDroppedSecrets,
  refuseSecretsOfOthers,
  withSecretGivers,
} from './inputs/secret-givers.ts';
import type { ResolveDeps, ResolvedRun, RunRequest } from './run-request.ts';
import type { AdmissionTarget } from './target.ts';

/** A deployment with the run that had these inputs. */
type SourceDeployment = Deployment & { readonly runId: string };

/**
 * Resolves a request to a run: chooses the version, fills in and checks the variables, and seals the inputs. A destroy takes the version
 * and the variables that it does not name from the deployment that it removes, and a copy from its source (`inheritFrom`).
 * @throws Unprocessable naming everything that is wrong with the variables or with references in them, or an operation that the template
 * does not support
 */
export async function resolveRun(
  tx: Transaction,
  { keyRing, evaluator }: ResolveDeps,
  target: AdmissionTarget,
  asked: RunRequest,
  requester: Principal,
): Promise<ResolvedRun> {
  const { em } = tx;
  const instance = asked.instance ?? target.templateSlug;
  const { source, omit = [] } = asked;
  refuseOmittedAndGiven(omit, asked.variables);
  const { version, deployment: found } = await chooseSupported(em, keyRing, target, { ...asked, instance });
  const deployment = found && (await openDeployed(em, found));
  const environment = target.environmentId
    ? await loadEnvironmentVariables(em, keyRing, target.environmentId)
    : { template: {}, env: [] };
  const schema = version.spec.variables;
  const validate = (values: Record<string, JsonValue>, sensitive: readonly string[]) =>
    tx.awaitOutside(JSON.stringify([version.id, values, sensitive]), () =>
      new VariableEvaluator(evaluator, limitSubjectOfCaller(requester)).validate(schema, values, sensitive),
    );
  const fillIn = async (values: Record<string, JsonValue>) => (await validate(values, Object.keys(values))).variables;
  const { request, inherited } = await inherit(
    { keyRing, version, request: asked, environment, fillIn, requester },
    deployment,
  );
  const work = { version, request, inherited };
  refuseDroppedSecrets(work, deployment);
  const merged = mergeInputs(schema, environment, inherited, request);
  refuseLostSecrets(merged, work, deployment);
  const opened = new SourceOutputs(em, keyRing);
  const referred = await readReferences(em, opened, target, { given: merged, inherited, request });
  const given = await readRemoteStates(em, opened, target, { given: referred, version, request, inherited });
  const { valid, errors, variables } = await validate(given.variables, given.sensitive);
  // This check precedes the report of invalid values: a rule that compares a secret with another value would confirm a guess.
  refuseSecretsOfOthers(keyRing, { ...work, deployment, inputs: { ...given, variables } }, requester);
  if (!valid) refuseInvalid(explainTakenOver(errors, work));
  const sensitive = [...new Set([...secretNames(schema), ...given.sensitive])];
  const complete = { ...given, variables, sensitive };
  const inputs = { ...complete, secretGivers: giversOf(complete, work, requester) };
  await refuseStrongPlanSecrets(em, target, { version, inputs, request, inherited });
  return buildRun(em, keyRing, target, version, {
    ...request,
    instance,
    variableResets: await readResets(em, keyRing, target, { ...work, inputs, instance }),
    shown: maskVariables(schema, inputs.variables, inputs.sensitive),
    inputs,
    requeuedFrom: source?.runId ?? null,
  });
}

/**
 * Marks the values that have become secret since the deployment, and adds who provided each secret: a run with other values must not repeat
 * another person's secret.
 */
async function openDeployed(em: Em, { runId, versionId, inputs }: SourceDeployment): Promise<Deployment> {
  return { versionId, inputs: await raiseSecrets(em, await withSecretGivers(em, runId, inputs)) };
}

interface Inheriting {
  readonly keyRing: KeyRing;
  readonly version: PublishedVersion;
  readonly request: RunRequest;
  readonly environment: EnvironmentVariables;
  readonly fillIn: (variables: Record<string, JsonValue>) => Promise<Record<string, JsonValue>>;
  readonly requester: Principal;
}

/**
 * Returns what a run takes over from a deployment, and the request without rotated secrets. A secret that the environment has rotated is
 * neither copied nor repeated. The run gets the environment's current value. A run that starts from what is deployed keeps every other
 * secret, or is refused with the name of the secret (`refuseSecretsOfOthers`): a run never silently replaces a deployed secret that a
 * person or a request provided.
 */
async function inherit(
  { keyRing, version, request, environment, fillIn, requester }: Inheriting,
  deployment: Deployment | null,
): Promise<{ readonly request: RunRequest; readonly inherited: Deployment | null }> {
  const { source } = request;
  if (!deployment) return { request, inherited: null };
  const known = findSecretsOf(deployment.inputs, requester);
  if (!source) {
    const isChanged = (request.omit ?? []).length > 0;
    return { request, inherited: inheritFrom(deployment, version, request.variables, { isChanged, known }) };
  }
  const schema = version.spec.variables;
  const { inputs } = deployment;
  const hash = secretHashOf(keyRing, source.runId);
  const { variables: requested } = request;
  const { template } = environment;
  const { readAgain } = source;
  const rotated = await findRotated({ schema, inputs, template, requested, readAgain, hash, fillIn });
  const isNamed = ([name]: readonly [string, JsonValue]) => !rotated.includes(name);
  const variables = Object.fromEntries(Object.entries(requested).filter(isNamed));
  const kept = { ...deployment, inputs: omitNames(inputs, rotated).inputs };
  if (source.deployed) return { request: { ...request, variables }, inherited: kept };
  const repeated = mergeInputs(schema, environment, deployment, { ...request, variables });
  const isChanged =
    source.isChanged === true || rotated.length > 0 || isGivenOtherwise(source.deployment.inputs, repeated, hash);
  return { request: { ...request, variables }, inherited: inheritFrom(kept, version, variables, { isChanged, known }) };
}

/**
 * The version that a request names or implies, and the deployment from which the run takes what the request does not name.
 * @throws Unprocessable if there is no such version, if it does not support the operation, or naming each name to omit that neither of them
 * has
 */
export async function chooseSupported(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  request: RunRequest & { readonly instance: string },
): Promise<{ readonly version: PublishedVersion; readonly deployment: SourceDeployment | null }> {
  const { source } = request;
  const isDestroy = request.operation === 'destroy';
  const removed = isDestroy && !source ? await findDeployment(em, keyRing, target, request.instance) : null;
  const { omit = [] } = request;
  const left = removed && omitNames(removed.inputs, omit);
  const deployment = source
    ? { ...source.deployment, runId: source.runId }
    : left && { ...removed, inputs: left.inputs };
  const version = await chooseVersion(em, target, request, deployment);
  refuseUnsupported(version, request);
  refuseUnknownOmitted(version, request, source ? (source.omittedAbsent ?? []) : (left?.omittedAbsent ?? omit));
  return { version, deployment };
}

function refuseUnsupported(
  { version, spec: { executor } }: PublishedVersion,
  { operation, replace }: RunRequest,
): void {
  if (replace.length > 0 && (executor.kind !== 'opentofu' || operation !== 'apply')) {
    throw new Unprocessable('replace: only an apply of an OpenTofu template can replace resources by address', {
      code: 'operation_unsupported',
    });
  }
  if (executor.kind !== 'command') return;
  if (operation === 'destroy' && !executor.destroy) {
    throw new Unprocessable(
      `version: the version ${version} of the template has no destroy steps: choose a version with destroy steps, or publish one`,
      { code: 'operation_unsupported' },
    );
  }
  if (operation === 'refresh')
    throw new Unprocessable('operation: only an OpenTofu template can refresh its state', {
      code: 'operation_unsupported',
    });
}

function refuseInvalid(errors: VariableError[]): never {
  throw new Unprocessable(describeProblems(errors), { code: 'variables_invalid', details: { errors } });
}
