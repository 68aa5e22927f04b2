import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { PublishedVersion } from '#domain/registry/publication/published.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { responsiblePerson } from '../../approval/rules.ts';
import { type Deployment, isGivenOtherwise } from '../deployment.ts';
import type { RunRequest } from '../run-request.ts';
import { describeProblems } from './inherited-inputs.ts';
import { openInputs, type RunInputs, type SecretGivers, type SecretHash, secretHashOf } from './inputs.ts';

/**
 * Records who provided the secrets of runs. A run may change other inputs and keep a secret if the person who is responsible for the run
 * provided it: that person knows the secret already. Another person's secret is kept only if nothing else changes. Otherwise the requester
 * could choose an address and have that secret sent there.
 */

/** The secrets that a request provided. They come neither from the environment, nor from a variable set, nor from an output. */
export function findOwnSecrets({ variables, sensitive, sources = {}, reads = [] }: RunInputs): string[] {
  // A secret that is only partly a reference counts as the request's own: reading the reference again does not restore the rest.
  const isRead = (name: string) => reads.some(({ variable, path }) => variable === name && path === '');
  const names = [...new Set(sensitive)].filter((name) => Object.hasOwn(variables, name));
  return names.filter((name) => !Object.hasOwn(sources, name) && !isRead(name));
}

/** The names of the own secrets (`findOwnSecrets`) that another person provided. */
export function findSecretsOfOthers(inputs: RunInputs, person: string): string[] {
  return findOwnSecrets(inputs).filter((name) => inputs.secretGivers?.[name] !== person);
}

/** The names of the own secrets (`findOwnSecrets`) that were provided by the person who is responsible for a new run. */
export function findSecretsOf(inputs: RunInputs, requester: Principal): string[] {
  const person = responsiblePerson(requester);
  return findOwnSecrets(inputs).filter((name) => inputs.secretGivers?.[name] === person);
}

/** Who provided the secrets of a new run. The requester provided those that the request names, unless the request says otherwise. */
export function giversOf(
  { variables, sensitive, sources = {} }: RunInputs,
  { request, inherited }: { readonly request: RunRequest; readonly inherited: Deployment | null },
  requester: Principal,
): SecretGivers {
  const requested = request.secretGivers ?? null;
  const giverOf = (name: string) => {
    if (!isTyped(request, name)) return inherited?.inputs.secretGivers?.[name];
    return requested ? requested[name] : responsiblePerson(requester);
  };
  const own = [...new Set(sensitive)].filter((name) => Object.hasOwn(variables, name) && !Object.hasOwn(sources, name));
  return Object.fromEntries(
    own.flatMap((name) => {
      const giver = giverOf(name);
      return giver === undefined ? [] : [[name, giver] as const];
    }),
  );
}

/** Whether the request itself gives the variable, other than by repeating a reference of its source. */
function isTyped({ variables, source }: RunRequest, name: string): boolean {
  return Object.hasOwn(variables, name) && !Object.hasOwn(source?.readAgain ?? {}, name);
}

/**
 * The inputs of a run with the persons who provided its secrets. An earlier release did not record them. Then the person who is responsible
 * for the run provided them, if that person is responsible for all runs of the instance so far, and none of these runs belongs to an
 * assembly or a drift finding, which may have brought a secret.
 */
export async function withSecretGivers(em: Em, runId: string, inputs: RunInputs): Promise<RunInputs> {
  if (inputs.secretGivers) return inputs;
  const runs = await db(em)
    .selectFrom('runs as r')
    .innerJoin('runs as of', 'of.instanceId', 'r.instanceId')
    .where('of.id', '=', runId)
    .whereRef('r.instancePosition', '<=', 'of.instancePosition')
    .select((eb) => [
      eb.fn.coalesce('r.responsibleUserId', 'r.requestedById').as('person'),
      eb.or([eb('r.assemblyRunId', 'is not', null), eb('r.driftFindingId', 'is not', null)]).as('isOfOther'),
    ])
    .distinct()
    .limit(2)
    .execute();
  const [only] = runs;
  const person = runs.length === 1 && only && !only.isOfOther ? only.person : null;
  const givers = person === null ? [] : findOwnSecrets(inputs).map((name) => [name, person] as const);
  return { ...inputs, secretGivers: Object.fromEntries(givers) };
}

interface KeptSecrets {
  readonly version: PublishedVersion;
  readonly request: RunRequest;
  /** The inputs that the run copies, without those that it omits and those that the environment has rotated. */
  readonly inherited: Deployment | null;
  /** The unchanged source. Values that have become secret since are marked as secret. */
  readonly deployment: Deployment | null;
  /** The inputs of the new run. */
  readonly inputs: RunInputs;
}

/**
 * Refuses a run that would send a secret of another person to inputs that it was not deployed with.
 * @throws Unprocessable `variables_invalid` naming the secrets
 */
export function refuseSecretsOfOthers(keyRing: KeyRing, kept: KeptSecrets, requester: Principal): void {
  const { request, inherited, deployment, inputs } = kept;
  const { deployed } = request.source ?? {};
  if (!deployed || !inherited || !deployment) return;
  const { sensitive, secretGivers = {} } = deployment.inputs;
  const before = { ...deployed.inputs, sensitive, secretGivers };
  const isKept = (name: string) =>
    !isTyped(request, name) && Object.hasOwn(inherited.inputs.variables, name) && Object.hasOwn(inputs.variables, name);
  const names = findSecretsOfOthers(before, responsiblePerson(requester)).filter(isKept);
  if (names.length === 0 || isSameWork(kept, deployed, secretHashOf(keyRing, deployed.runId))) return;
  throw keptOnlyAsItIs(names, 'that another person gave the deployment');
}

/**
 * Refuses a copy or a destroy that would silently lose a secret, because it does not repeat its run or the deployment. Secrets of the
 * environment or a variable set are not lost: the run reads them from there.
 * @throws Unprocessable `variables_invalid` naming the secrets
 */
export function refuseDroppedSecrets(
  { version, request, inherited }: Pick<KeptSecrets, 'version' | 'request' | 'inherited'>,
  deployment: Deployment | null,
): void {
  if (!deployment || request.source?.deployed) return;
  const { variables, sensitive, sources = {} } = deployment.inputs;
  const declared = propertiesOf(version.spec.variables);
  const isLeft = (name: string) => isTyped(request, name) || Object.hasOwn(inherited?.inputs.variables ?? {}, name);
  const lost = [...new Set(sensitive)].filter(
    (name) => Object.hasOwn(variables, name) && Object.hasOwn(declared, name) && !Object.hasOwn(sources, name),
  );
  const names = lost.filter((name) => !isLeft(name));
  if (names.length === 0) return;
  throw keptOnlyAsItIs(names, `that another person or an output gave the ${request.source ? 'run' : 'deployment'}`);
}

function keptOnlyAsItIs(names: readonly string[], origin: string): Unprocessable {
  const message = `is a secret ${origin}, and is kept only if nothing else changes: give it again, or name it in omit`;
  const errors = names.map((name) => ({ path: `/${escapePointer(name)}`, message }));
  return new Unprocessable(describeProblems(errors), { code: 'variables_invalid', details: { errors } });
}

/**
 * Whether the run has the version, the values and the environment variables that are deployed. A secret that the request names always
 * counts as different: otherwise the answer would confirm a guess.
 */
function isSameWork(
  { version, request, inherited, deployment, inputs }: KeptSecrets,
  deployed: Deployment,
  hash: SecretHash,
): boolean {
  const { variables, remoteStates } = deployed.inputs;
  const isLeft = (name: string) => Object.hasOwn(inherited?.inputs.variables ?? {}, name);
  const secrets = deployment?.inputs.sensitive ?? [];
  return (
    version.id === deployed.versionId &&
    Object.keys(variables).every(isLeft) &&
    !secrets.some((name) => isTyped(request, name)) &&
    isDeepStrictEqual(inputs.variables, variables) &&
    isDeepStrictEqual(inputs.remoteStates, remoteStates) &&
    !isGivenOtherwise(deployed.inputs, inputs, hash)
  );
}

/**
 * The secrets of an earlier run that somebody other than its reader provided. Secrets of a run whose inputs were deleted cannot be kept.
 * @param withOutputs whether secrets that came from an output count too: a copy that changes something drops them, while a run that starts
 * from the deployment reads them again
 */
export async function findSecretsOfOthersIn(
  em: Em,
  keyRing: KeyRing,
  { runId, withOutputs }: { readonly runId: string; readonly withOutputs: boolean },
  reader: Principal,
): Promise<string[]> {
  const run = await db(em).selectFrom('runs').where('id', '=', runId).select('sealedInputs').executeTakeFirst();
  if (!run || run.sealedInputs.length === 0) return [];
  const inputs = await withSecretGivers(em, runId, openInputs(keyRing, runId, run.sealedInputs));
  return findSecretsOfOthers(withOutputs ? { ...inputs, reads: [] } : inputs, responsiblePerson(reader));
}
