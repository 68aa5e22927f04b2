import { Decimal } from './decimal.ts';
import { isJsonObject, type JsonValue } from './json.ts';

export type DecimalPath = readonly (string | number)[];

/** The decimals in a value, with their paths. */
export function* decimalsIn(
  value: JsonValue,
  path: DecimalPath = [],
): Generator<{ path: DecimalPath; decimal: Decimal }> {
  if (value instanceof Decimal) yield { path, decimal: value };
  else if (Array.isArray(value)) for (const [index, each] of value.entries()) yield* decimalsIn(each, [...path, index]);
  else if (isJsonObject(value))
    for (const [name, member] of Object.entries(value)) yield* decimalsIn(member, [...path, name]);
}

export function hasDecimal(value: JsonValue): boolean {
  return !decimalsIn(value).next().done;
}

/** Returns a copy of the value in which each decimal is replaced. Parts without decimals are shared with the original. */
export function replaceDecimals(value: JsonValue, replace: (decimal: Decimal) => JsonValue): JsonValue {
  if (value instanceof Decimal) return replace(value);
  if (Array.isArray(value)) return value.map((each) => replaceDecimals(each, replace));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceDecimals(member, replace)]));
}

/** Returns the value with the decimals of the original at their places. */
export function restoreDecimals(value: JsonValue, original: JsonValue | undefined): JsonValue {
  if (original instanceof Decimal) return original;
  if (Array.isArray(value))
    return value.map((each, index) => restoreDecimals(each, Array.isArray(original) ? original[index] : undefined));
  if (!isJsonObject(value)) return value;
  const member = (name: string) =>
    isJsonObject(original) && Object.hasOwn(original, name) ? original[name] : undefined;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, restoreDecimals(each, member(name))]));
}
