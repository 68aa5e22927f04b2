import { describe, expect, it } from 'vitest';
import { ReferenceBudget } from '#domain/assemblies/spec/reference-budget.ts';
import {
  findMalformed,
  findReferences,
  type Known,
  ReferenceFailed,
  resolveReferences,
} from '#domain/assemblies/spec/references.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { Random } from '#test/support/pages/random.ts';
import { within } from '#test/support/slowness.ts';

const values: Record<string, JsonValue> = { n: 3, text: 'eu', list: [1, { a: 'x' }], flag: true, none: null };

function resolve(value: JsonValue, secrets: string[] = []) {
  return resolveReferences(value, (reference): Known | undefined =>
    Object.hasOwn(values, reference.name)
      ? { value: values[reference.name] ?? null, isSensitive: secrets.includes(reference.name) }
      : undefined,
  );
}

describe('a value that consists of one reference', () => {
  it.each([
    ['${variables.n}', 3],
    ['${variables.list}', [1, { a: 'x' }]],
    ['${nodes.net-work.outputs.flag}', true],
    ['${variables.list[1].a}', 'x'],
    ['${variables["list"][1]["a"]}', 'x'],
    ['${variables.none}', null],
  ])('%s gets the type of what it refers to', (text, expected) => {
    expect(resolve({ a: [text] }).value).toEqual({ a: [expected] });
  });
});

describe('a reference inside a text', () => {
  it('is replaced by a string, a number or a boolean', () => {
    expect(resolve('${variables.text}-${variables.n}-${variables.flag}').value).toBe('eu-3-true');
  });

  it('is refused if it refers to a list', () => {
    expect(() => resolve('a ${variables.list}')).toThrow(/variables\.list is a list, which has no place inside a text/);
  });

  it('is not replaced after a second dollar sign', () => {
    expect(resolve('$${variables.n} and ${variables.n}').value).toBe('${variables.n} and 3');
  });
});

describe('a reference without a value', () => {
  it('is named in the error', () => {
    expect(() => resolve('${nodes.a.outputs.missing}')).toThrow('nodes.a.outputs.missing has no value');
  });

  it.each([
    '${variables.list.length}',
    '${variables.text.length}',
    '${variables.list[7]}',
    '${variables.n.constructor}',
  ])('%s does not read an inherited member', (text) => {
    expect(() => resolve(text)).toThrow(ReferenceFailed);
  });
});

describe('a text that looks like a reference', () => {
  it.each([
    '${}',
    '${foo}',
    '${variables}',
    '${variables.}',
    '${nodes.a}',
    '${nodes.a.status}',
    '${nodes.a.outputs}',
    '${variables.a',
    '${ variables.a }',
  ])('%s is reported with what would be right', (text) => {
    expect(findReferences(text)).toEqual([]);
    expect(findMalformed({ x: text })).toEqual([
      { path: '/x', message: expect.stringContaining('write ${variables.<name>} or ${nodes.<key>.outputs.<name>}') },
    ]);
  });
});

describe('references that resolve to more than the limit of variables', () => {
  const large = { value: 'x'.repeat(100_000), isSensitive: false };
  const fail = (value: JsonValue, found: Known = large) => expect(() => resolveReferences(value, () => found));

  it('are refused before the text is built, however often the text repeats them', async () => {
    await within(2_000, () => {
      fail('${variables.a}'.repeat(20)).toThrow(
        /^with variables\.a, the references give more than 1 MiB or 20,000 values: /,
      );
      fail('${variables.a} '.repeat(60_000)).toThrow(ReferenceFailed);
    });
  });

  it('are refused if each is a whole value, because each use counts', () => {
    fail(Array.from({ length: 20 }, () => '${variables.a}')).toThrow(ReferenceFailed);
    const values = { value: Array.from({ length: 9_000 }, () => 1), isSensitive: false };
    fail({ a: '${variables.a}', b: '${variables.a}', c: '${variables.a}' }, values).toThrow(ReferenceFailed);
  });

  it('count together if they share a budget, and a reference to a member counts only that member', () => {
    const budget = new ReferenceBudget();
    const parts = { value: { small: 1, large: large.value }, isSensitive: false };
    const use = (text: string) => resolveReferences(text, () => parts, budget).value;
    for (let count = 0; count < 10; count++) use('${variables.a.large}');
    expect(use('${variables.a.small}')).toBe(1);
    expect(() => use('${variables.a}')).toThrow(ReferenceFailed);
  });
});

describe('a reference to a secret', () => {
  it('makes the whole value sensitive', () => {
    expect(resolve({ a: '${variables.n}', b: 'x${variables.text}' }, ['text']).isSensitive).toBe(true);
    expect(resolve({ a: '${variables.n}' }, ['text']).isSensitive).toBe(false);
  });
});

describe('resolving any text', () => {
  const pieces = ['$', '${', '$${', '}', 'variables', '.n', '.text', 'a', ' ', '[0]', '["x"]', '${variables.n}', 'é'];

  it('fails only if the text has a malformed reference, and takes little time', async () => {
    const random = new Random(7);
    for (let round = 0; round < 2_000; round++) {
      const text = Array.from({ length: random.between(0, 12) }, () => random.pick(pieces)).join('');
      const plain = text.replaceAll('$', '');
      expect(resolve(plain).value).toBe(plain);
      if (findMalformed(text).length > 0) expect(() => resolve(text)).toThrow(ReferenceFailed);
      else expect(resolve(text).value).toBeDefined();
    }
    await within(5_000, () => findMalformed('${variables.a["'.repeat(60_000)));
  });
});
