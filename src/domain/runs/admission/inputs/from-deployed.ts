import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { type KeyRing, SealUnopened } from '#domain/shared/secrets.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { placeAllReferences } from '../../references/place-references.ts';
import { type DeployedRun, findDeployedSecrets, findDeployment } from '../deployment.ts';
import { resolveRun } from '../resolve.ts';
import type { ResolveDeps, ResolvedRun, RunRequest } from '../run-request.ts';
import type { AdmissionTarget } from '../target.ts';
import { describeProblems, omitNames, refuseOmittedAndGiven } from './inherited-inputs.ts';

/** A request that starts from what is deployed. */
export interface FromDeployed extends RunRequest {
  readonly instance: string;
  /** Names of variables that are not taken over. */
  readonly omit: readonly string[];
}

/**
 * Resolves a run that starts from the deployment of its instance: a variable that the request does not name keeps the deployed value, and a
 * reference is read again. A secret that a person or a request provided is always kept. A secret that the environment or a variable set
 * provided is read from there again, so that the run gets a rotated one (`findRotated`).
 * @throws Unprocessable `nothing_deployed`; `variables_invalid` naming each secret that must be provided again, each value that does not
 * fit the version, and each name to omit that neither the deployment nor the version has
 * @throws Invalid for a name to omit for which the request has a value
 */
export async function resolveFromDeployed(
  tx: Transaction,
  deps: ResolveDeps,
  target: AdmissionTarget,
  { omit, ...request }: FromDeployed,
  requester: Principal,
): Promise<ResolvedRun> {
  const { em } = tx;
  const deployed = await openDeployment(em, deps.keyRing, target, request.instance);
  if (!deployed || deployed.isRemoved) throw nothingDeployed(request.instance, deployed);
  refuseOmittedAndGiven(omit, request.variables);
  const isLeft = (name: string) => !omit.includes(name);
  const { inputs, omittedAbsent } = omitNames(deployed.inputs, omit);
  const isTakenOver = (name: string) => isLeft(name) && !Object.hasOwn(request.variables, name);
  const read = placeAllReferences(inputs.variables, inputs.reads, isTakenOver);
  const reads = inputs.reads.filter(({ variable }) => !Object.hasOwn(read, variable));
  const source = {
    runId: deployed.runId,
    omittedAbsent,
    deployment: { versionId: deployed.versionId, inputs: { ...inputs, reads } },
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

/** @throws Unprocessable `variables_invalid` naming the secrets, if no key of the service can decrypt the deployed inputs */
async function openDeployment(em: Em, keyRing: KeyRing, target: AdmissionTarget, instance: string) {
  try {
    return await findDeployment(em, keyRing, target, instance);
  } catch (error) {
    if (!(error instanceof SealUnopened)) throw error;
    const secrets = await findDeployedSecrets(em, target, instance);
    const message = 'is deployed, but no key of the service opens the deployed values: restore the key';
    const errors = secrets.map((name) => ({ path: `/${escapePointer(name)}`, message }));
    const summary = `${describeProblems(errors)}, or name all variables and leave out variables_from`;
    throw new Unprocessable(summary, { code: 'variables_invalid', details: { errors } });
  }
}

function nothingDeployed(instance: string, removed: DeployedRun | null): Unprocessable {
  const name = JSON.stringify(instance);
  const message = removed
    ? `variables_from: ${name} was destroyed by the run ${removed.runId}: name the variables, or copy the run that deployed it before`
    : `variables_from: nothing is deployed as ${name} by a run of this template`;
  return new Unprocessable(message, { code: 'nothing_deployed' });
}
