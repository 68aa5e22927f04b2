import type { JsonValue } from '#domain/shared/values/json.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { isObject, type JsonObject, parseJson } from '../shared/json.ts';

/** Ephemeral variables: a plan names them without their values, and the tool wants the values again when it applies the plan. */

/**
 * The ephemeral variables that had a value when a plan was made. The tools keep the values of all other declared variables in the plan, also of those
 * that have only their default.
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

/** The values that a plan may keep: those of all variables that are not ephemeral. */
export function withoutEphemeral(variables: Variables, names: readonly string[]): Buffer {
  const kept = Object.entries(variables).filter(([name]) => !names.includes(name));
  return Buffer.from(JSON.stringify(Object.fromEntries(kept)));
}

/** The values that an apply is given beside its plan. Names that the run was not given have a value in the template's own files. */
export function onlyEphemeral(variables: Variables, names: readonly string[]): Buffer {
  const given = Object.entries(variables).filter(([name]) => names.includes(name));
  return Buffer.from(JSON.stringify(Object.fromEntries(given)));
}

/** Both of these together, as the plan was made. */
export function joinVariables(kept: Buffer, ephemeral: Buffer): Buffer {
  const [first, second] = [parseJson(kept), parseJson(ephemeral)];
  if (!isObject(first) || !isObject(second)) throw damaged();
  return Buffer.from(JSON.stringify({ ...first, ...second }));
}

/** The names as the artifact of a plan has them. Most plans have none, and no such file. */
export function readNames(content: Buffer | undefined): string[] {
  const names = content === undefined ? [] : parseJson(content);
  if (!Array.isArray(names)) throw damaged();
  return names.map(String);
}

function damaged(): AttemptFailure {
  return new AttemptFailure('artifact_mismatch', 'the stored plan is not the plan to apply: it is damaged');
}
