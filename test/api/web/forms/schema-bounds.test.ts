import { describe, expect, test } from 'vitest';
import { Budget } from '#api/web/forms/schema/budget.ts';
import { costInside, maxEntries } from '#api/web/forms/schema/cost.ts';
import type { Entry } from '#api/web/forms/schema/entry.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { resolveSchema } from '#api/web/forms/schema/plan/resolve.ts';
import { readEntry } from '#api/web/forms/schema/value.ts';
import { decodeVariables, editVariables, fillVariables } from '#api/web/forms/schema/variables.ts';
import { checkSchema } from '#domain/registry/variables/check.ts';
import type { JsonObject, JsonValue } from '#domain/shared/values/json.ts';

const form = (a: JsonObject, $defs: JsonObject = {}): JsonObject => ({ type: 'object', properties: { a }, $defs });
const repeat = (count: number, value: JsonValue) => Array.from({ length: count }, () => value);

/** Ten levels, each of which refers to the next one thirty times. */
function towerOf(keyword: 'allOf' | 'oneOf' | 'anyOf', width: number): JsonObject {
  const $defs: JsonObject = { d10: { type: 'string', title: 'The end' } };
  for (let level = 0; level < 10; level++)
    $defs[`d${level}`] = { [keyword]: repeat(width, { $ref: `#/$defs/d${level + 1}` }) };
  return form({ $ref: '#/$defs/d0' }, $defs);
}

const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items });

describe('a small schema that expands to a huge form', () => {
  test('is read in linear time if it nests allOf', () => {
    const tower = towerOf('allOf', 30);
    expect(checkSchema(tower)).toEqual([]);
    const budget = new Budget(2000);
    expect(resolveSchema({ $ref: '#/$defs/d0' }, tower, budget)).toMatchObject({ type: 'string' });
    expect(2000 - budget.left).toBeLessThan(400);
    expect(planForm(tower).members[0]).toMatchObject({ kind: 'text', title: 'The end' });
  });

  test.each(['oneOf', 'anyOf'] as const)('is read within the budget if it nests %s', (keyword) => {
    const [node] = planForm(towerOf(keyword, 20)).members;
    expect(node?.kind).toBe('shapes');
    expect(JSON.stringify(node).length).toBeLessThan(500_000);
  });

  test('becomes a JSON field beyond the budget, and leaves other variables as they are', () => {
    const parts = Array.from({ length: 1900 }, (_, index) => ({ 'x-part': index }));
    const big: JsonObject = { allOf: [{ $ref: '#/$defs/parts' }, { type: 'string' }] };
    const schema: JsonObject = {
      type: 'object',
      properties: { a: { type: 'string' }, b: big, c: big, d: { type: 'string' } },
      $defs: { parts: { allOf: parts } },
    };
    expect(planForm(schema).members.map(({ kind, isSecret }) => [kind, isSecret])).toEqual([
      ['text', false],
      ['text', false],
      ['json', false],
      ['json', false],
    ]);
  });

  test('becomes a secret JSON field if it may contain a secret', () => {
    const properties = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, { type: 'string' }]));
    const parts = {
      a: { properties },
      b: { properties },
      c: { properties: { ...properties, d: { writeOnly: true } } },
    };
    const [open, secret] = [{ a: parts.a, b: parts.b, c: parts.a }, parts].map((of) => {
      const schema = { ...form({ properties: of }), properties: { a: { properties: of }, token: { writeOnly: true } } };
      const [node] = planForm(schema).members;
      return node?.kind === 'object' ? node.members.map(({ kind, isSecret }) => [kind, isSecret]) : [];
    });
    expect(open).toEqual([
      ['object', false],
      ['object', false],
      ['json', false],
    ]);
    expect(secret).toEqual([
      ['object', false],
      ['object', false],
      ['json', true],
    ]);
  });

  test.each<JsonObject>([
    { enum: ['x'.repeat(100_000)] },
    { const: 'x'.repeat(100_000) },
    { type: 'boolean', description: 'x'.repeat(100_000) },
  ])('becomes a JSON field if long texts would be repeated', (long) => {
    const properties = Object.fromEntries(
      Array.from({ length: 90 }, (_, index) => [`p${index}`, { $ref: '#/$defs/long' }]),
    );
    const { members } = planForm(form({ type: 'object', properties }, { long }));
    const [node] = members;
    const kinds = node?.kind === 'object' ? node.members.map(({ kind }) => kind) : [];
    expect(kinds.filter((kind) => kind === 'options').length).toBeLessThanOrEqual(20);
    expect(kinds.at(-1)).toBe('json');
  });
});

describe('a form of lists in lists', () => {
  const nested = listOf(listOf(listOf({ type: 'string' })));
  const root = planForm(form(nested));
  const inside = (entries: { members: Readonly<Record<string, Entry>> }, of = root) =>
    costInside(of, { kind: 'object', members: entries.members, rows: [] });

  test('is refused if it requests more parts than the limit', () => {
    const sent = new Map([['n/a', ['50']]]);
    for (let one = 0; one < 50; one++) {
      sent.set(`n/a/${one}`, ['50']);
      for (let two = 0; two < 50; two++) sent.set(`n/a/${one}/${two}`, ['50']);
    }
    expect(() => decodeVariables(sent, root)).toThrow('more than about 2000 parts');
    expect(inside(decodeVariables(new Map([['n/a', ['50']]]), root))).toBe(51);
  });

  test('shows values beyond the budget as JSON, and loses none of them', () => {
    const filled = fillVariables(root, { a: repeat(40, repeat(40, repeat(40, 'x'))) });
    expect(inside(filled)).toBeLessThanOrEqual(maxEntries);
    const lists = filled.members['a']?.kind === 'array' ? filled.members['a'].items : [];
    expect(lists).toHaveLength(40);
    const last = lists.at(-1);
    expect(last?.kind === 'json' && JSON.parse(last.text)).toEqual(repeat(40, repeat(40, 'x')));
  });

  test('shows a list as JSON if an added item exceeds the budget', () => {
    const full = planForm(form(listOf(listOf({ type: 'string' }))));
    const lists = [...repeat(39, repeat(50, 'x')), repeat(maxEntries - 1 - 40 - 39 * 50, 'y')];
    const entry = fillVariables(full, { a: lists });
    expect(inside(entry, full)).toBe(maxEntries);
    const edited = editVariables(full, entry, { name: 'add', slot: '/a/39', index: 0 });
    expect(edited.members['a']).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ kind: 'json' })]),
    });
    expect(inside(edited, full)).toBeLessThanOrEqual(maxEntries);
  });

  test('begins with no more blank items than the budget allows', () => {
    let blank: JsonObject = {
      type: 'object',
      properties: Object.fromEntries(repeat(60, 0).map((_, i) => [`p${i}`, { type: 'string' }])),
    };
    for (let level = 0; level < 5; level++) blank = { type: 'array', minItems: 3, items: blank };
    const many = planForm({ ...form(blank), required: ['a'] });
    expect(inside(fillVariables(many, {}), many)).toBeLessThanOrEqual(maxEntries);
  });

  test('is refused if its parts would show too many choices together', () => {
    const choice = { enum: Array.from({ length: 400 }, (_, index) => `option ${index}`) };
    const wide = planForm(form(listOf(listOf({ type: 'object', properties: { b: choice } }))));
    const sent = new Map([['n/a', ['50']]]);
    for (let one = 0; one < 50; one++) sent.set(`n/a/${one}`, ['4']);
    expect(() => decodeVariables(sent, wide)).toThrow('parts');
  });
});

test.each([
  ['0.123456789012345', { value: 0.123456789012345, problems: [] }],
  ['+1.50', { value: 1.5, problems: [] }],
  [
    '0.12345678901234567890',
    { value: undefined, problems: [{ pointer: '/a', message: 'must have at most 15 digits' }] },
  ],
  ['9007199254740993', { problems: [{ pointer: '/a', message: 'must lie between ±9007199254740991' }] }],
])('the number %s in a form keeps its digits or is refused', (text, expected) => {
  const [node] = planForm(form({ type: 'number' })).members;
  if (!node) throw new Error('the form has no field');
  expect(readEntry(node, { kind: 'text', text }, '/a')).toMatchObject(expected);
});
