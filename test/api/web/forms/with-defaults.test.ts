import { expect, it } from 'vitest';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { withDefaults } from '#api/web/forms/schema/with-defaults.ts';
import { compileVariables } from '#domain/registry/variables/engine.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';

const size: JsonObject = { type: 'integer', default: 1 };
const service: JsonObject = { type: 'object', properties: { size, tags: { type: 'object', default: {} } } };
const properties: JsonObject = {
  plain: service,
  map: { type: 'object', additionalProperties: service },
  list: { type: 'array', items: service },
  nullable: { type: ['object', 'null'], properties: { size } },
  branches: { anyOf: [{ type: 'object', properties: { size } }, { type: 'null' }] },
  referred: { $ref: '#/$defs/service' },
  merged: { allOf: [service, { type: 'object', properties: { more: { type: 'string', default: 'x' } } }] },
  outer: { type: 'object', properties: { inner: { ...service, default: {} } } },
  unlike: { ...service, default: { size: 2 } },
};
const schema: JsonObject = { type: 'object', properties, $defs: { service } };

it.each<[string, JsonObject]>([
  ['an object', { plain: {} }],
  ['an object that has all members', { plain: { size: 3, tags: { a: 'b' } } }],
  ['a map', { map: { web: {}, api: { size: 2 } } }],
  ['a list', { list: [{}, { size: 2 }] }],
  ['an object that may be null', { nullable: {} }],
  ['null', { nullable: null }],
  ['one of several shapes', { branches: {} }],
  ['a reference', { referred: {} }],
  ['schemas that apply together', { merged: {} }],
  ['a default inside a default', { outer: {} }],
  ['a value of another type', { plain: 'text', list: {}, map: [1] }],
])('a form fills in the members that are missing from %s as a run does', (_what, value) => {
  const filled = structuredClone(value);
  compileVariables(schema)(filled);
  expect(withDefaults(planForm(schema), value)).toEqual(filled);
});
