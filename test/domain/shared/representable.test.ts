import { describe, expect, it } from 'vitest';
import { representOutputs } from '#domain/runs/attempts/represented-outputs.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { hasUnrepresentable, representValue } from '#domain/shared/values/representable.ts';
import { findUnstorable } from '#domain/shared/values/storable.ts';

function nested(levels: number): JsonValue {
  let value: JsonValue = 'x';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { inner: value };
  return value;
}

describe('a value that cannot be stored in full', () => {
  const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);

  it('keeps what can be stored, and names the rest with its path', () => {
    const value = { ok: 1, list: ['a', 'b\0'], 'a/b~': '\ud800', deep: { n: parseExactJson('1e100000') } };
    const { value: stored, missing } = representValue(value);
    expect(stored).toEqual({
      ok: 1,
      list: ['a', { unrepresentable: { reason: 'holds a NUL character', digest } }],
      'a/b~': { unrepresentable: { reason: 'holds half of a character (a lone surrogate)', digest } },
      deep: { n: { unrepresentable: { reason: 'holds a number of more than 1000 digits', digest } } },
    });
    expect(missing.map(({ path }) => path)).toEqual(['/list/1', '/a~1b~0', '/deep/n']);
    expect(findUnstorable(stored)).toBeNull();
  });

  it('replaces a whole object that has a key that cannot be stored', () => {
    const { value, missing } = representValue({ a: [{ 'b\0': 1 }], c: 2 });
    expect(value).toMatchObject({ a: [{ unrepresentable: { reason: 'has a key that holds a NUL character' } }], c: 2 });
    expect(missing).toEqual([{ path: '/a/0', reason: 'has a key that holds a NUL character' }]);
  });

  it.each([199, 200, 201, 300, 900])('is cut at the depth limit if it has %i levels', (levels) => {
    const { value, missing } = representValue(nested(levels), 2);
    expect(findUnstorable([{ value }])).toBeNull();
    expect(missing.map(({ reason }) => reason)).toEqual(['is nested deeper than 200 levels']);
  });

  it('is unchanged if all of it can be stored', () => {
    const value = { a: nested(198) };
    expect(representValue(value)).toEqual({ value, missing: [] });
    expect(hasUnrepresentable(value)).toBe(false);
  });

  it('is only what this service has replaced: an object with other members, or without a digest, is a value of a template', () => {
    const mark = { reason: 'holds a NUL character', digest: `sha256:${'0'.repeat(64)}` };
    expect(hasUnrepresentable({ a: { unrepresentable: mark } })).toBe(true);
    for (const unrepresentable of [{ ...mark, command: 'rm -rf /' }, { reason: mark.reason }, { ...mark, digest: 'x' }])
      expect(hasUnrepresentable({ a: { unrepresentable } })).toBe(false);
    expect(hasUnrepresentable({ a: { unrepresentable: mark, command: 'rm -rf /' } })).toBe(false);
  });

  it('differs from the replacement of another value', () => {
    const [one, other] = [representValue(['a\0']), representValue(['b\0'])];
    expect(one.value).not.toEqual(other.value);
    expect(representValue(['a\0'])).toEqual(one);
  });
});

it('outputs are stored even if a name cannot be stored or is __proto__', () => {
  const outputs = representOutputs({
    ['__proto__']: { value: 1, sensitive: false },
    'a\0': { value: 'x', sensitive: false },
    ['long'.repeat(300)]: { value: 'x', sensitive: true },
  });
  expect(findUnstorable(outputs)).toBeNull();
  const [first, second, third] = Object.entries(outputs);
  expect(first).toEqual(['__proto__', { value: 1, sensitive: false }]);
  expect(second?.[0]).toBe('a\\u0000');
  expect(second?.[1].unrepresentable).toEqual([{ path: '', reason: 'has a name that holds a NUL character' }]);
  expect(third?.[0]).toHaveLength(1024);
});
