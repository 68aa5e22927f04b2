import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import { secretNames } from '#domain/registry/variables/variables.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { invalidField, Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { placeReferences } from '../references/place-references.ts';
import { resolveReferences } from '../references/resolve-references.ts';
import { SourceOutputs } from '../references/source-outputs.ts';
import { type DeployedRun, findDeployment } from './deployment.ts';
import type { RunInputs } from './inputs.ts';
import { resolveRun } from './resolve.ts';
import type { ResolveDeps, ResolvedRun, RunRequest } from './run-request.ts';
import type { AdmissionTarget } from './target.ts';

/** A request that starts from what is deployed. */
export interface FromDeployed extends RunRequest {
  readonly instance: string;
  /** Names of variables that are not taken over. */
  readonly omit: readonly string[];
}

/**
 * Resolves a run that starts from the deployment of its instance: a variable that the request does not name has the value that is deployed, and a reference is
 * read anew. Secrets are taken over as by a copy (`inheritFrom`): only while version, variables and what the environment gives stay the same.
 * @throws Unprocessable `nothing_deployed`; `variables_invalid` naming each secret that must be given again, and each value that does not fit the version
 * @throws Invalid for a name to omit that is not deployed, or that the request gives
 */
export async function resolveFromDeployed(
  tx: Transaction,
  deps: ResolveDeps,
  target: AdmissionTarget,
  { omit, ...request }: FromDeployed,
  requester: Principal,
): Promise<ResolvedRun> {
  const { em } = tx;
  const deployed = await findDeployment(em, deps.keyRing, target, request.instance);
  if (!deployed || deployed.isRemoved)
    throw new Unprocessable(
      `variables_from: nothing is deployed as ${JSON.stringify(request.instance)} by a run of this template`,
      {
        code: 'nothing_deployed',
      },
    );
  refuseOmitted(deployed.inputs, request.variables, omit);
  const isLeft = (name: string) => !omit.includes(name);
  const inputs = withoutNames(deployed.inputs, omit);
  const isTakenOver = (name: string) => isLeft(name) && !Object.hasOwn(request.variables, name);
  const { read, isRepeated } = await readAgain(em, deps.keyRing, target, { ...deployed, inputs }, isTakenOver);
  const source = {
    runId: deployed.runId,
    isChanged: omit.length > 0 || !isRepeated,
    deployment: { versionId: deployed.versionId, inputs: isRepeated ? inputs : { ...inputs, reads: [] } },
    deployed,
  };
  const variables = { ...read, ...request.variables };
  const run = await resolveRun(
    tx,
    deps,
    target,
    { ...request, version: request.version ?? 'latest', variables, resolvesReferences: true, source },
    requester,
  );
  return { ...run, requeuedFrom: null };
}

/** @throws Invalid for a name that is not deployed, or that the request gives as well */
function refuseOmitted(
  { variables: deployed }: RunInputs,
  given: Readonly<Record<string, JsonValue>>,
  omit: readonly string[],
): void {
  for (const name of omit) {
    const quoted = JSON.stringify(name);
    if (Object.hasOwn(given, name))
      throw invalidField('omit', `the request gives the variable ${quoted}: name it in variables or in omit`);
    if (!Object.hasOwn(deployed, name))
      throw invalidField('omit', `the deployment has no variable ${quoted}: name only variables that are deployed`);
  }
}

function withoutNames(inputs: RunInputs, names: readonly string[]): RunInputs {
  const isLeft = ([name]: readonly [string, unknown]) => !names.includes(name);
  return {
    ...inputs,
    variables: Object.fromEntries(Object.entries(inputs.variables).filter(isLeft)),
    sources: Object.fromEntries(Object.entries(inputs.sources ?? {}).filter(isLeft)),
    reads: (inputs.reads ?? []).filter(({ variable }) => !names.includes(variable)),
  };
}

/**
 * The variables that were given outputs, with their references. While other secrets are at stake and every reference still comes to the deployed value, the run repeats
 * what is deployed instead: then it may take over those secrets.
 */
async function readAgain(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  { inputs, versionId }: DeployedRun,
  isTakenOver: (name: string) => boolean,
): Promise<{ readonly read: Record<string, JsonValue>; readonly isRepeated: boolean }> {
  const { variables, reads = [] } = inputs;
  const { spec } = await loadVersionById(em, versionId);
  const declaredSecrets = secretNames(spec.variables);
  const isWhole = (name: string) => reads.some(({ variable, path }) => variable === name && path === '');
  // What stands beside a reference in a secret is a secret that a reference does not bring back.
  const isPartlySecret = (name: string) => declaredSecrets.has(name) && !isWhole(name);
  const named = [...new Set(reads.map(({ variable }) => variable))].filter(
    (name) => isTakenOver(name) && Object.hasOwn(variables, name) && !isPartlySecret(name),
  );
  const placed = named.map((name) => {
    const ofVariable = reads.filter(({ variable }) => variable === name);
    return [name, placeReferences(variables[name] ?? null, ofVariable)] as const;
  });
  const read = Object.fromEntries(placed);
  const hasOtherSecrets = inputs.sensitive.some((name) => Object.hasOwn(variables, name) && !named.includes(name));
  if (named.length === 0) return { read: {}, isRepeated: true };
  if (!hasOtherSecrets) return { read, isRepeated: false };
  const { variables: now } = await resolveReferences(em, new SourceOutputs(em, keyRing), target, read);
  const isSame = named.every((name) => isDeepStrictEqual(now[name], variables[name]));
  return isSame ? { read: {}, isRepeated: true } : { read, isRepeated: false };
}
