import type { JsonValue } from '#domain/shared/values/json.ts';

export type JsonObject = { readonly [name: string]: JsonValue };

/** A value that may be missing, such as an attribute that only one side has. */
export type Side = JsonValue | undefined;

/** An object of values. The marks below stand for values, so they are none. */
export function isPlainObject(value: Side): value is JsonObject & JsonValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isSecret(value) && !isUnknown(value);
}

/** Stands for a secret value (`{"sensitive": true}`). */
export function isSecret(value: Side): boolean {
  return isMark(value, 'sensitive');
}

/** Stands for a value that only the apply will know (`{"unknown": true}`). */
export function isUnknown(value: Side): boolean {
  return isMark(value, 'unknown');
}

/** Whether a value is a mark, or has one inside. */
export function isMarked(value: Side): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isSecret(value) || isUnknown(value) || Object.values(value).some(isMarked);
}

function isMark(value: Side, name: string): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return value[name] === true && Object.keys(value).length === 1;
}

/** A tool does not tell an attribute that is null from one that is not set. */
export function isUnset(value: Side): value is null | undefined {
  return value === null || value === undefined;
}
