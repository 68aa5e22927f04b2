import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { VariableEvaluator } from '#domain/registry/evaluation/variable-evaluator.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { secretNames } from '#domain/registry/variables/variables.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { type EnvironmentVariables, loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { escapeReference, readReference, replaceTexts } from '#domain/variables/reference-syntax.ts';
import { placeReferences } from '../../references/place-references.ts';
import type { ResolveDeps } from '../run-request.ts';
import { openInputs, type RunInputs, type SecretHash, secretHashOf } from './inputs.ts';
import { convertDefault } from './merge-inputs.ts';

type Values = Readonly<Record<string, JsonValue>>;

interface Repetition {
  readonly schema: TemplateSpec['variables'];
  /** The inputs that are repeated. Inputs that an earlier release sealed name no sources, so none of their values counts as rotated. */
  readonly inputs: RunInputs;
  /** The present values of the environment and its variable sets. */
  readonly template: EnvironmentVariables['template'];
  /** The values that the new run names itself. */
  readonly requested: Values;
  /** Those of them that repeat a reference of the inputs, so that it is read again. */
  readonly readAgain?: Values | undefined;
  readonly hash: SecretHash;
  /** Fills in the defaults of the schema, as the repeated run has them. */
  readonly fillIn: (variables: Record<string, JsonValue>) => Promise<Values>;
}

/**
 * The names of the secrets that came from an environment or a variable set, and that have changed or disappeared there since. A run that
 * repeats the inputs gets the present value: the earlier secret may have been revoked. A value that was not secret and is not secret now
 * stays as it is deployed.
 */
export async function findRotated(repetition: Repetition): Promise<string[]> {
  const { schema, inputs, template, hash, fillIn } = repetition;
  const names = namesToCompare(repetition);
  const now = Object.fromEntries(
    names.flatMap((name) => {
      const given = template[name];
      return given ? [[name, writtenOf(convertDefault(schema, name, given.value))] as const] : [];
    }),
  );
  // Only objects have members that the schema fills in.
  const isFilled = Object.values(now).some((value) => isJsonObject(value) || Array.isArray(value));
  const filled = isFilled ? await fillIn(now) : now;
  const before = (name: string) =>
    repetition.readAgain?.[name] ??
    placeReferences(
      inputs.variables[name] ?? null,
      (inputs.reads ?? []).filter(({ variable }) => variable === name),
    );
  return names.filter((name) => !Object.hasOwn(filled, name) || hash(filled[name] ?? null) !== hash(before(name)));
}

interface Since {
  readonly runId: string;
  readonly environmentId: string;
  /** The variables of the version that a new run would have. */
  readonly schema: TemplateSpec['variables'];
}

/** `findRotated` of an earlier run, for a caller who may read that run and its environment. Empty if the inputs of the run were deleted. */
export async function findRotatedSince(
  em: Em,
  { keyRing, evaluator }: ResolveDeps,
  { runId, environmentId, schema }: Since,
  reader: Principal,
): Promise<string[]> {
  const run = await db(em).selectFrom('runs').where('id', '=', runId).select('sealedInputs').executeTakeFirst();
  if (!run || run.sealedInputs.length === 0) return [];
  const inputs = openInputs(keyRing, runId, run.sealedInputs);
  const { template } = await loadEnvironmentVariables(em, keyRing, environmentId);
  const variables = new VariableEvaluator(evaluator, limitSubjectOfCaller(reader));
  const fillIn = async (values: Record<string, JsonValue>) =>
    (await variables.validate(schema, values, Object.keys(values))).variables;
  const hash = secretHashOf(keyRing, runId);
  return findRotated({ schema, inputs, template, requested: {}, hash, fillIn });
}

function namesToCompare({ schema, inputs, template, requested, readAgain = {} }: Repetition): string[] {
  const secrets = new Set([...secretNames(schema), ...inputs.sensitive]);
  const isReadAgain = (name: string) => Object.hasOwn(readAgain, name) && template[name] !== undefined;
  return Object.keys(inputs.sources ?? {}).filter(
    (name) =>
      Object.hasOwn(inputs.variables, name) &&
      (secrets.has(name) || template[name]?.sensitive) &&
      (!Object.hasOwn(requested, name) || isReadAgain(name)),
  );
}

/** A value as `placeReferences` writes it: text that only looks like a reference is escaped. */
function writtenOf(value: JsonValue): JsonValue {
  return replaceTexts(value, ({ text }) => {
    const read = readReference(text);
    if (read && 'output' in read) return text;
    return escapeReference(read && 'escaped' in read ? read.escaped : text);
  });
}
