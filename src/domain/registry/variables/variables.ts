import { runWithin, TimeLimitExceeded } from '#domain/shared/evaluation/time-limit.ts';
import type { JsonObject, JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer, splitPointer } from '#domain/shared/values/json-pointer.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import { nearest } from '#domain/shared/values/near-names.ts';
import { isCheap } from './cost.ts';
import { compileVariables } from './engine.ts';
import { describeErrors, type VariableError } from './errors.ts';
import { isLargerThan } from './json-size.ts';
import { type Located, locateSchemas, propertiesOf, reachable, referenceOf } from './walk.ts';

/** Validates the variables of a template, and finds the secret ones (docs/writing-templates.md, *Variables*). */

export type VariableValues = Record<string, JsonValue>;
export type ValidationResult = {
  valid: boolean;
  errors: VariableError[];
  /** A copy of the input with the schema's defaults filled in. */
  variables: VariableValues;
};

const millisecondsToValidate = 500;
const inputLimits = { values: 20_000, depth: 32, bytes: 1024 * 1024 };

/**
 * The values of a deployment and of the environment for the variables that the template has, the deployment's before the
 * environment's. The run's own values take precedence.
 */
export function mergeVariables(
  schema: JsonObject,
  given: { environment: VariableValues; deployment?: VariableValues; run: VariableValues },
): VariableValues {
  const declared = propertiesOf(schema);
  const inherited = Object.entries({ ...given.environment, ...given.deployment });
  const defaults = inherited.filter(([name]) => Object.hasOwn(declared, name));
  return { ...Object.fromEntries(defaults), ...given.run };
}

/**
 * Validates an input and fills in defaults. It returns all errors at once. An error in a secret variable names only the broken rule, not
 * the place. `secrets` names variables that are secret for a reason outside the schema. The schema must have passed `checkSchema`. Use
 * `VariableEvaluator`, which keeps costly schemas off the main thread.
 * @throws TimeLimitExceeded
 */
export function validateVariables(
  schema: JsonObject,
  input: VariableValues,
  secrets: Iterable<string> = [],
): ValidationResult {
  if (isLargerThan(input, inputLimits)) return failed(input, 'has too many values or is nested too deeply');
  const variables = structuredClone(input);
  const evaluate = compileVariables(schema);
  const validate = () => {
    const errors = evaluate(variables);
    const hidden = new Set([...secretNames(schema), ...secrets]);
    const described = describeErrors(errors.map((error) => concealSecret(error, hidden)));
    return { valid: errors.length === 0, errors: suggestNames(described, schema), variables };
  };
  try {
    return isCheap(schema, input) ? validate() : runWithin(millisecondsToValidate, validate);
  } catch (error) {
    // A schema that refers to itself exhausts the stack on a value that is nested deeply enough.
    if (error instanceof RangeError) throw new TimeLimitExceeded('the schema needs too deep a stack');
    throw error;
  }
}

const secretsOf = new WeakMap<JsonObject, ReadonlySet<string>>();

/** The variables that have `"writeOnly": true` in their schema or anywhere inside it, references included. */
export function secretNames(schema: JsonObject): ReadonlySet<string> {
  const names = secretsOf.get(schema) ?? findSecretNames(schema);
  secretsOf.set(schema, names);
  return names;
}

function findSecretNames(schema: JsonObject): Set<string> {
  const all = locateSchemas(schema);
  const holders = findSecretHolders(all);
  const root = all.get('');
  const names = new Set<string>();
  for (const { pointer, schema: inner } of root === undefined ? [] : reachable(root, all)) {
    for (const name of Object.keys(propertiesOf(inner))) {
      if (holders.has(`${pointer}/properties/${escapePointer(name)}`)) names.add(name);
    }
  }
  return names;
}

/** The variables with secrets masked. A variable that the schema does not list is masked too: it may be a misspelt secret. */
export function maskVariables(
  schema: JsonObject,
  variables: VariableValues,
  secrets: Iterable<string> = [],
): Record<string, JsonValue | Masked> {
  const hidden = new Set([...secretNames(schema), ...secrets]);
  const declared = propertiesOf(schema);
  const isShown = (name: string) => Object.hasOwn(declared, name) && !hidden.has(name);
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, isShown(name) ? value : { sensitive: true }]),
  );
}

/** The pointers of all schemas that are write-only, contain such a schema, or refer to one that does. */
function findSecretHolders(all: ReadonlyMap<string, Located>): Set<string> {
  const holders = new Set<string>();
  const referrers = new Map<string, string[]>();
  for (const { pointer, schema } of all.values()) {
    if (typeof schema === 'boolean') continue;
    if (schema['writeOnly'] === true) holders.add(pointer);
    const target = referenceOf(schema);
    if (target === undefined) continue;
    const known = referrers.get(target);
    if (known) known.push(pointer);
    else referrers.set(target, [pointer]);
  }
  for (const pointer of holders) {
    const parent = all.get(pointer)?.parent ?? null;
    if (parent !== null) holders.add(parent);
    for (const referrer of referrers.get(pointer) ?? []) holders.add(referrer);
  }
  return holders;
}

type AjvErrors = Parameters<typeof describeErrors>[0];

/** Removes member names and positions inside a secret, because they are part of it. */
function concealSecret(error: AjvErrors[number], secrets: ReadonlySet<string>): AjvErrors[number] {
  const [name] = splitPointer(error.instancePath);
  if (name === undefined || !secrets.has(name)) return error;
  const {
    missingProperty: _missing,
    additionalProperty: _extra,
    unevaluatedProperty: _other,
    ...params
  } = error.params;
  return { ...error, instancePath: `/${escapePointer(name)}`, params };
}

/** The maximum number of unknown variables that get a suggestion, because comparing names takes time. */
const maxSuggestions = 10;

function suggestNames(errors: readonly VariableError[], schema: JsonObject): VariableError[] {
  return errors.map((error, index) => (index < maxSuggestions ? suggestName(error, schema) : error));
}

/** Suggests a name for an unknown variable, which is usually misspelt. */
function suggestName(error: VariableError, schema: JsonObject): VariableError {
  const [name, ...rest] = splitPointer(error.path);
  const names = Object.keys(propertiesOf(schema));
  if (name === undefined || rest.length > 0 || names.includes(name)) return error;
  const near = nearest(name, names);
  return { ...error, message: `is not a declared variable${near ? `; did you mean "${near}"?` : ''}` };
}

function failed(variables: VariableValues, message: string): ValidationResult {
  return { valid: false, errors: [{ path: '', message }], variables };
}
