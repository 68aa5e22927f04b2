import { Decimal } from '#domain/shared/values/decimal.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import type { Redactor } from './redactor.ts';

type Path = (string | number)[];

/** The paths of the texts and numbers in a value that contain a known secret. Names of members are not checked. */
export function secretPaths(value: JsonValue, redactor: Redactor, path: Path = []): Path[] {
  if (redactor.isEmpty) return [];
  if (typeof value === 'string' || typeof value === 'number' || value instanceof Decimal)
    return redactor.contains(value) ? [path] : [];
  const members: Iterable<[string | number, JsonValue]> = Array.isArray(value)
    ? value.entries()
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  return [...members].flatMap(([name, item]) => secretPaths(item, redactor, [...path, name]));
}
