import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { objectOf } from './draft-nodes.ts';

/** Reads what a JSON Schema states directly about a value. References and alternatives are ignored, so the result never claims too much. */

type Schema = Readonly<Record<string, JsonValue>>;

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;
export type JsonType = (typeof types)[number];

/** The schema of the member that a path leads to; undefined if the schema does not state it directly. */
export function schemaAt(schema: JsonValue | undefined, path: readonly (string | number)[]): Schema | undefined {
  let inner: JsonValue | undefined = schema;
  for (const step of path) {
    const { properties, items } = objectOf(inner);
    const members = objectOf(properties);
    inner = typeof step === 'number' ? items : Object.hasOwn(members, step) ? members[step] : undefined;
  }
  return isJsonObject(inner) ? inner : undefined;
}

/** The types that a schema allows; null if it does not say. */
export function typesOf(schema: Schema | undefined): JsonType[] | null {
  const named = [schema?.['type'] ?? []].flat();
  const known = types.filter((type) => named.includes(type));
  return known.length === 0 ? null : known;
}

/** Whether some value has a type of each side. An integer is also a number. */
export function haveCommonType(a: readonly JsonType[], b: readonly JsonType[]): boolean {
  const widen = (list: readonly JsonType[]) => list.map((type) => (type === 'integer' ? 'number' : type));
  return widen(a).some((type) => widen(b).includes(type));
}

/** Whether a value with these types can have the member that a step names. */
export function canHaveMember(allowed: readonly JsonType[] | null, step: string | number): boolean {
  return allowed === null || allowed.includes(typeof step === 'number' ? 'array' : 'object');
}

/** The names that a schema of variables declares. */
export function declaredNames(schema: JsonValue | undefined): string[] {
  return Object.keys(objectOf(objectOf(schema)['properties']));
}

/** Whether a schema of variables declares a name. */
export function declares(schema: JsonValue | undefined, name: string): boolean {
  return Object.hasOwn(objectOf(objectOf(schema)['properties']), name);
}

/** The names that a schema of variables requires and for which it has no default. */
export function requiredNames(schema: JsonValue | undefined): string[] {
  const { required, properties } = objectOf(schema);
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return names.filter((name) => !Object.hasOwn(objectOf(objectOf(properties)[name]), 'default'));
}
