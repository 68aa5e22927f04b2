import type { Em } from '#database/database.ts';
import type { EarlierSecrets } from '#domain/shared/redaction/earlier-secrets.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { openInputs, type RunInputs } from '../admission/inputs/inputs.ts';
import { raiseSecrets } from '../references/secret-outputs.ts';
import { openSourceOutputs } from '../references/sources-store.ts';
import { findEarlierWriters, findStateWriters, maxWriters, type StateWriter } from './writers-store.ts';

/** The maximum size of all secrets together, in characters of their JSON. */
const maxCharacters = 2 * 1024 * 1024;

/**
 * The secrets that the current state of an instance may contain. They are those of its last deployment, those of every run that has written
 * the state since, those of up to `maxWriters` earlier runs, because resources may still have their values, and the secret outputs. Inputs
 * of deleted runs and credentials of connections are not stored, so the result does not contain them.
 * @param secretNames the variables that are secret now, even if they were not secret in earlier runs
 */
export async function findStateSecrets(
  em: Em,
  keyRing: KeyRing,
  instanceId: string,
  secretNames: readonly string[] = [],
): Promise<EarlierSecrets> {
  const writers = await findStateWriters(em, instanceId);
  const secrets = await openSecrets(em, keyRing, instanceId, { writers, secretNames });
  return isCut(writers) ? tooMany : secrets;
}

/**
 * The secrets under which two earlier states of an instance were written: those of up to `maxWriters` runs before each, and the secret
 * outputs.
 */
export async function findSecretsOfStates(
  em: Em,
  keyRing: KeyRing,
  instanceId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<EarlierSecrets> {
  const found = [
    ...(await findEarlierWriters(em, instanceId, from)),
    ...(await findEarlierWriters(em, instanceId, to)),
  ];
  const writers = [...new Map(found.map((writer) => [writer.id, writer])).values()];
  return openSecrets(em, keyRing, instanceId, { writers, secretNames: [] });
}

export const noSecrets: EarlierSecrets = { values: [], areTooMany: false };

const tooMany: EarlierSecrets = { values: [], areTooMany: true };

/** The secret inputs of the writers, and the secret outputs. */
async function openSecrets(
  em: Em,
  keyRing: KeyRing,
  instanceId: string,
  { writers, secretNames }: { readonly writers: readonly StateWriter[]; readonly secretNames: readonly string[] },
): Promise<EarlierSecrets> {
  const values = new Map<string, JsonValue>();
  const add = (secret: JsonValue) => values.set(JSON.stringify(secret), secret);
  for (const { id, sealedInputs } of writers) {
    if (sealedInputs.length === 0) continue;
    const inputs = await raiseSecrets(em, openInputs(keyRing, id, sealedInputs));
    secretsOf(inputs, secretNames).forEach(add);
  }
  const outputs = Object.values(await openSourceOutputs(em, keyRing, instanceId));
  for (const { value, sensitive } of outputs) if (sensitive) add(value);
  const characters = [...values.keys()].reduce((sum, { length }) => sum + length, 0);
  return characters > maxCharacters ? tooMany : { values: [...values.values()], areTooMany: false };
}

/** Whether a run that has written since the last deployment may be missing. */
function isCut(writers: readonly StateWriter[]): boolean {
  const last = writers[maxWriters];
  return last?.isSinceDeployment === true && !last.isDeployed;
}

function secretsOf(
  { variables, sensitive, environment, remoteStates = {} }: RunInputs,
  secretNames: readonly string[],
) {
  const ofVariables = [...sensitive, ...secretNames].map((name) =>
    Object.hasOwn(variables, name) ? (variables[name] ?? null) : null,
  );
  const ofTools = environment
    .filter((variable) => variable.sensitive)
    .flatMap(({ value, planValue }) => (planValue === undefined ? [value] : [value, planValue]));
  const ofStates = Object.values(remoteStates).flatMap(secretOutputsOf);
  return [...ofVariables, ...ofTools, ...ofStates].filter((value) => value !== null);
}

function secretOutputsOf(state: string): JsonValue[] {
  const parsed = parseExactJson(state);
  const outputs = isJsonObject(parsed) && isJsonObject(parsed['outputs']) ? Object.values(parsed['outputs']) : [];
  return outputs.filter(isJsonObject).flatMap(({ value = null, sensitive }) => (sensitive === true ? [value] : []));
}
