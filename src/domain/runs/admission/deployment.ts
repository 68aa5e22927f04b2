import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import {
  loadAvailable,
  loadVersion,
  loadVersionById,
  type PublishedVersion,
} from '#domain/registry/publication/published.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import { escapeReference, replaceTexts } from '../../variables/reference-syntax.ts';
import type { SealedRead } from '../references/model.ts';
import { comparableVariable, openInputsToRepeat, type RunInputs, type SecretHash } from './inputs/inputs.ts';
import { findQueued } from './queued-instance.ts';
import type { AdmissionTarget } from './target.ts';

/** How an instance was deployed: the version and the inputs of the run that last changed it. */
export interface Deployment {
  readonly versionId: string;
  readonly inputs: RunInputs;
}

/** The deployment of an instance as a run left it. */
export interface DeployedRun extends Deployment {
  readonly runId: string;
  /** Whether that run removed the instance, so that nothing is deployed any longer. */
  readonly isRemoved: boolean;
}

type Place = Pick<AdmissionTarget, 'templateId' | 'environmentId'>;

/** The deployment of a target's instance; null if no run of the same template has changed the instance yet. */
export async function findDeployment(
  em: Em,
  keyRing: KeyRing,
  place: Place,
  instance: string,
): Promise<DeployedRun | null> {
  if (await isKnownUndeployed(em, place, instance)) return null;
  const row = await selectDeployed(em, place, instance)
    .select(['r.id', 'r.operation', 'r.sealedInputs'])
    .executeTakeFirst();
  if (!row) return null;
  const { id: runId, versionId, operation, sealedInputs } = row;
  const inputs = openInputsToRepeat(keyRing, runId, sealedInputs);
  return { runId, versionId, inputs, isRemoved: operation === 'destroy' };
}

/** Whether the transaction has read that no run has deployed the instance. */
async function isKnownUndeployed(em: Em, place: Place, instance: string): Promise<boolean> {
  const queued = await findQueued(em, place, instance);
  return queued?.deployedRunId === null;
}

/** The id of the version with which the instance was deployed; null without a deployment. */
export async function findDeployedVersion(em: Em, place: Place, instance: string): Promise<string | null> {
  return (await selectDeployed(em, place, instance).executeTakeFirst())?.versionId ?? null;
}

/** The names of the secret variables of the deployment. Its run shows these names without the values. */
export async function findDeployedSecrets(em: Em, place: Place, instance: string): Promise<string[]> {
  const row = await selectDeployed(em, place, instance).select('r.variables').executeTakeFirst();
  return row ? prefillOf(row.variables).secrets : [];
}

function selectDeployed(em: Em, { templateId, environmentId }: Place, instance: string) {
  const named = db(em)
    .selectFrom('instances as i')
    .innerJoin('runs as r', 'r.id', 'i.deployedRunId')
    .where('i.name', '=', instance)
    .where('r.templateId', '=', templateId)
    // A deleted run may no longer have its inputs.
    .where((eb) => sql<boolean>`octet_length(${eb.ref('r.sealedInputs')}) > 0`)
    .select('r.templateVersionId as versionId');
  return environmentId === null
    ? named.where('i.environmentId', 'is', null).where('i.templateId', '=', templateId)
    : named.where('i.environmentId', '=', environmentId);
}

/**
 * The part of a deployment that a destroy or a copy inherits. It inherits all secrets, and the states of other instances, only if it
 * repeats version and variables: so people can repeat or remove a deployment without knowing its secrets. Another version, or another value
 * such as an address, could disclose them. A requested variable may repeat the value that it has.
 * @param known the secrets that the requester gave, which are inherited in any case
 */
export function inheritFrom(
  deployment: Deployment,
  version: PublishedVersion,
  requested: Readonly<Record<string, JsonValue>>,
  { isChanged, known }: { readonly isChanged: boolean; readonly known: readonly string[] },
): Deployment {
  const { versionId, inputs } = deployment;
  if (version.id === versionId && !isChanged && repeats(inputs, version, requested)) return deployment;
  const open = Object.entries(inputs.variables).filter(
    ([name]) => !inputs.sensitive.includes(name) || known.includes(name),
  );
  const { remoteStates: _, reads = [], ...rest } = inputs;
  const isOpen = ({ variable }: SealedRead) => open.some(([name]) => name === variable);
  return { versionId, inputs: { ...rest, variables: Object.fromEntries(open), reads: reads.filter(isOpen) } };
}

/**
 * Whether a run gets from its environment what its source did not get: another environment variable of its tools, or a value for
 * a variable that had none.
 */
export function isGivenOtherwise(source: RunInputs, run: RunInputs, hash: SecretHash): boolean {
  if (Object.keys(run.variables).some((name) => !Object.hasOwn(source.variables, name))) return true;
  const toolsOf = ({ environment }: RunInputs) =>
    Object.fromEntries(environment.map((variable) => [variable.name, comparableVariable(variable, hash)]));
  return !isDeepStrictEqual(toolsOf(source), toolsOf(run));
}

/**
 * Whether the requested variables have the values that the deployment shows for them. A masked variable never counts as repeated: otherwise
 * the answer would confirm a guessed secret.
 */
function repeats(
  { variables, sensitive }: RunInputs,
  { spec }: PublishedVersion,
  requested: Readonly<Record<string, JsonValue>>,
): boolean {
  const declared = propertiesOf(spec.variables);
  const isShown = (name: string) => Object.hasOwn(declared, name) && !sensitive.includes(name);
  return Object.entries(requested).every(
    ([name, value]) => isShown(name) && Object.hasOwn(variables, name) && isDeepStrictEqual(value, variables[name]),
  );
}

/**
 * The version that a run uses: the requested one, else that of the deployment, else the latest.
 * @throws Unprocessable naming the versions that exist instead
 */
export async function chooseVersion(
  em: Em,
  target: AdmissionTarget,
  request: { readonly version: string | undefined; readonly instance: string },
  deployment: Deployment | null,
): Promise<PublishedVersion> {
  const { version: wanted, instance } = request;
  if (wanted === undefined && deployment) return loadVersionById(em, deployment.versionId);
  const queued = await findQueued(em, target, instance);
  if (queued) return loadAvailable(em, queued.ofTemplate, wanted ?? 'latest');
  return loadVersion(em, target.templateId, wanted ?? 'latest');
}

/** The variables of a run that a copy takes over. */
interface Prefill {
  readonly variables: Record<string, JsonValue>;
  /** The names of secret variables. */
  readonly secrets: string[];
}

/**
 * Separates the variables that a run shows from those that it masks. A value that looks like the mask counts as secret, and a text that
 * looks like a reference stays that text.
 */
export function prefillOf(shown: Readonly<Record<string, JsonValue | Masked>>): Prefill {
  const entries = Object.entries(shown);
  const open = entries.filter(([, value]) => !isMasked(value)) as [string, JsonValue][];
  const secrets = entries.filter(([, value]) => isMasked(value)).map(([name]) => name);
  const variables = open.map(([name, value]) => [name, replaceTexts(value, ({ text }) => escapeReference(text))]);
  return { variables: Object.fromEntries(variables), secrets };
}

function isMasked(value: JsonValue | Masked): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === 1 && 'sensitive' in value && value['sensitive'] === true;
}
