import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import { secretNames } from '#domain/registry/variables/variables.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { placeReferences } from '../references/place-references.ts';
import { resolveReferences } from '../references/resolve-references.ts';
import { SourceOutputs } from '../references/source-outputs.ts';
import { type DeployedRun, findDeployment } from './deployment.ts';
import { omitNames, refuseOmittedAndGiven } from './omitted.ts';
import { resolveRun } from './resolve.ts';
import type { ResolveDeps, ResolvedRun, RunRequest } from './run-request.ts';
import type { AdmissionTarget } from './target.ts';

/** A request that starts from what is deployed. */
export interface FromDeployed extends RunRequest {
  readonly instance: string;
  /** Names of variables that are not taken over. */
  readonly omit: readonly string[];
  /** Names to omit that neither the deployment nor the version has are accepted: they were checked when the work of a schedule was saved. */
  readonly acceptsUnknownOmit?: boolean;
}

/**
 * Resolves a run that starts from the deployment of its instance: a variable that the request does not name has the value that is deployed, and a reference is
 * read anew. Secrets are taken over as by a copy (`inheritFrom`): only while version, variables and what the environment gives stay the same. One that the
 * environment has rotated comes from there (`findRotated`).
 * @throws Unprocessable `nothing_deployed`; `variables_invalid` naming each secret that must be given again, each value that does not fit the version,
 *   and each name to omit that neither the deployment nor the version has
 * @throws Invalid for a name to omit that the request gives
 */
export async function resolveFromDeployed(
  tx: Transaction,
  deps: ResolveDeps,
  target: AdmissionTarget,
  { omit, acceptsUnknownOmit = false, ...request }: FromDeployed,
  requester: Principal,
): Promise<ResolvedRun> {
  const { em } = tx;
  const deployed = await findDeployment(em, deps.keyRing, target, request.instance);
  if (!deployed || deployed.isRemoved) throw nothingDeployed(request.instance, deployed);
  refuseOmittedAndGiven(omit, request.variables);
  const isLeft = (name: string) => !omit.includes(name);
  const { inputs, omitted, omittedAbsent } = omitNames(deployed.inputs, omit);
  const isTakenOver = (name: string) => isLeft(name) && !Object.hasOwn(request.variables, name);
  const { read, isRepeated } = await readAgain(em, deps.keyRing, target, { ...deployed, inputs }, isTakenOver);
  const source = {
    runId: deployed.runId,
    isChanged: omitted.length > 0 || !isRepeated,
    omittedAbsent: acceptsUnknownOmit ? [] : omittedAbsent,
    deployment: { versionId: deployed.versionId, inputs: isRepeated ? inputs : { ...inputs, reads: [] } },
    readAgain: read,
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

function nothingDeployed(instance: string, removed: DeployedRun | null): Unprocessable {
  const name = JSON.stringify(instance);
  const message = removed
    ? `variables_from: ${name} was destroyed by the run ${removed.runId}: name the variables, or copy the run that deployed it before`
    : `variables_from: nothing is deployed as ${name} by a run of this template`;
  return new Unprocessable(message, { code: 'nothing_deployed' });
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
