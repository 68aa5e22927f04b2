import type { JsonObject } from '#domain/shared/values/json.ts';
import { isJsonObject } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import type { Schema } from './engine.ts';

/** Finds the schemas inside a schema, and those that apply to the same value. */

type Kind = 'value' | 'schema' | 'list' | 'map';

/** Every keyword of JSON Schema 2020-12 that the service supports, with the kind of its value. */
export const keywords: Readonly<Record<string, Kind>> = {
  ...kindOf('value', '$schema $ref $comment title description default deprecated readOnly writeOnly examples'),
  ...kindOf('value', 'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum format pattern'),
  ...kindOf('value', 'maxLength minLength maxItems minItems uniqueItems maxContains minContains'),
  ...kindOf('value', 'maxProperties minProperties required dependentRequired contentEncoding contentMediaType'),
  ...kindOf('schema', 'additionalProperties propertyNames contains items not if then else'),
  ...kindOf('schema', 'unevaluatedItems unevaluatedProperties'),
  ...kindOf('list', 'allOf anyOf oneOf prefixItems'),
  ...kindOf('map', 'properties patternProperties dependentSchemas $defs definitions'),
};

/** Keywords whose schemas apply to the same value as the schema that contains them. */
const inPlace = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'];

/** Keywords whose branches may or may not apply, so that a default in them is never filled in. */
const conditional = ['anyOf', 'oneOf', 'not', 'if'];

export type Located = {
  /** JSON pointer from the root: `/properties/size`. */
  readonly pointer: string;
  readonly schema: Schema;
  /** The pointer of the schema that contains this one; null for the root. */
  readonly parent: string | null;
  readonly isConditional: boolean;
};

/** The schema and every schema inside it, by pointer, outermost first; references are not followed. */
export function locateSchemas(schema: Schema): Map<string, Located> {
  const found = new Map<string, Located>([['', { pointer: '', schema, parent: null, isConditional: false }]]);
  for (const outer of found.values()) {
    if (typeof outer.schema === 'boolean') continue;
    for (const [keyword, value] of Object.entries(outer.schema)) {
      const isConditional = outer.isConditional || conditional.includes(keyword);
      for (const [step, inner] of schemasUnder(keyword, value)) {
        const pointer = `${outer.pointer}/${step}`;
        found.set(pointer, { pointer, schema: inner, parent: outer.pointer, isConditional });
      }
    }
  }
  return found;
}

/** The schemas that apply to the same value as this one: those of `allOf` and similar keywords, and the target of `$ref`. */
export function* neighbours(located: Located, all: ReadonlyMap<string, Located>): Generator<Located> {
  if (typeof located.schema === 'boolean') return;
  for (const keyword of inPlace) {
    for (const [step] of schemasUnder(keyword, located.schema[keyword])) {
      const inner = all.get(`${located.pointer}/${step}`);
      if (inner !== undefined) yield inner;
    }
  }
  const target = referenceOf(located.schema);
  const referenced = target === undefined ? undefined : all.get(target);
  if (referenced !== undefined) yield referenced;
}

/** All schemas that apply to the same value as this one, directly or through others, itself included. */
export function reachable(start: Located, all: ReadonlyMap<string, Located>): Set<Located> {
  const seen = new Set<Located>([start]);
  for (const located of seen) {
    for (const next of neighbours(located, all)) seen.add(next);
  }
  return seen;
}

/** The members of `properties`, or of another keyword that holds a map. */
export function propertiesOf(schema: Schema, keyword = 'properties'): { [name: string]: unknown } {
  const members = typeof schema === 'boolean' ? undefined : schema[keyword];
  return isJsonObject(members) ? members : {};
}

/** The JSON pointer of a `$ref` within the schema; undefined if there is no `$ref` or it leads outside. */
export function referenceOf(schema: JsonObject): string | undefined {
  const reference = schema['$ref'];
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined;
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
}

function schemasUnder(keyword: string, value: unknown): [string, Schema][] {
  const kind = Object.hasOwn(keywords, keyword) ? keywords[keyword] : 'value';
  if (kind === 'schema') return isSchema(value) ? [[keyword, value]] : [];
  if ((kind !== 'list' && kind !== 'map') || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): [string, Schema][] =>
    isSchema(inner) ? [[`${keyword}/${escapePointer(name)}`, inner]] : [],
  );
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

function kindOf(kind: Kind, names: string): Record<string, Kind> {
  return Object.fromEntries(names.split(' ').map((name) => [name, kind]));
}
