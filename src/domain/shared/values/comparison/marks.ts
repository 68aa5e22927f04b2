import { isJsonObject, type JsonValue } from '../json.ts';
import { unrepresentableReason } from '../representable.ts';
import { holdSame, isHidden } from './hidden.ts';

export type JsonObject = { readonly [name: string]: JsonValue };

/** A value that may be missing, such as an attribute that only one side has. */
export type Side = JsonValue | undefined;

/** The text that replaces a secret within a text. */
export const redacted = '[redacted]';

/** Whether a value is an object. The mark of a secret, unknown or unrepresentable value does not count. */
export function isPlainObject(value: Side): value is JsonObject & JsonValue {
  return isJsonObject(value) && !isSecret(value) && !isUnknown(value) && unrepresentableReason(value) === null;
}

/** Whether a value is the mark of a secret (`{"sensitive": true}`). */
export function isSecret(value: Side): boolean {
  return isMark(value, 'sensitive');
}

/** Whether a value is the mark of one that only the apply will know (`{"unknown": true}`). */
export function isUnknown(value: Side): boolean {
  return isMark(value, 'unknown');
}

function isMark(value: Side, name: string): boolean {
  if (!isJsonObject(value)) return false;
  return value[name] === true && Object.keys(value).length === 1;
}

/** Whether both sides are hidden values, which `holdSame` can compare. */
export function areHidden(before: unknown, after: unknown): boolean {
  return isHidden(before) && isHidden(after);
}

/** Whether the marks in two values that look equal stand for equal values. A mark whose value is not known counts as different. */
export function hideTheSame(before: unknown, after: unknown): boolean {
  if (typeof before !== 'object' || before === null) return true;
  if (isHidden(before)) return holdSame(before, after);
  if (isSecret(before as JsonValue) || isUnknown(before as JsonValue)) return false;
  if (Array.isArray(before)) return before.every((each, index) => hideTheSame(each, (after as unknown[])[index]));
  const [one, other] = [before, after] as Record<string, unknown>[];
  return Object.keys(before).every((name) => hideTheSame(one?.[name], other?.[name]));
}
