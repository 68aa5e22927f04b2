import type { JsonValue } from '#domain/shared/values/json.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { isObject, type JsonObject, parseJson } from '../shared/json.ts';

/** Ephemeral variables: a plan has their names without their values, and the tool needs the values again when it applies the plan. */

/**
 * The ephemeral variables that had a value when the plan was made. They are the declared variables without a value in the plan, because the
 * tools store the values of all others there, including defaults.
 */
export function ephemeralOf({ configuration, variables }: JsonObject): string[] {
  const root = isObject(configuration) ? configuration['root_module'] : undefined;
  const declared = isObject(root) && isObject(root['variables']) ? root['variables'] : {};
  const kept = isObject(variables) ? variables : {};
  return Object.keys(declared)
    .filter((name) => !Object.hasOwn(kept, name))
    .sort();
}

type Variables = Readonly<Record<string, JsonValue>>;

/** The values of all variables that are not ephemeral. The plan's artifact may contain them. */
export function withoutEphemeral(variables: Variables, names: readonly string[]): Buffer {
  const kept = Object.entries(variables).filter(([name]) => !names.includes(name));
  return Buffer.from(JSON.stringify(Object.fromEntries(kept)));
}

/**
 * The values that an apply needs in addition to its plan. Ephemeral variables that the run does not set get their values from the
 * template's own files.
 */
export function onlyEphemeral(variables: Variables, names: readonly string[]): Buffer {
  const given = Object.entries(variables).filter(([name]) => names.includes(name));
  return Buffer.from(JSON.stringify(Object.fromEntries(given)));
}

/** Joins both, as they were when the plan was made. */
export function joinVariables(kept: Buffer, ephemeral: Buffer): Buffer {
  const [first, second] = [parseJson(kept), parseJson(ephemeral)];
  if (!isObject(first) || !isObject(second)) throw damaged();
  return Buffer.from(JSON.stringify({ ...first, ...second }));
}

/** Reads the names from the artifact of a plan. Most plans have none, and then the file is missing. */
export function readNames(content: Buffer | undefined): string[] {
  const names = content === undefined ? [] : parseJson(content);
  if (!Array.isArray(names)) throw damaged();
  return names.map(String);
}

function damaged(): AttemptFailure {
  return new AttemptFailure('artifact_mismatch', 'the stored plan is not the plan to apply: it is damaged');
}
