import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { Decimal } from '#domain/shared/values/decimal.ts';
import { maxReadDepth, parseExactJson, parseWrittenJson } from '#domain/shared/values/exact-json.ts';
import { findUnstorable } from '#domain/shared/values/storable.ts';

/** The JSON that is written after a number was read. */
function rewrite(literal: string): string {
  return JSON.stringify(parseExactJson(`{"n":[${literal}]}`)).slice('{"n":['.length, -']}'.length);
}

describe('exact JSON', () => {
  test.each([
    ['9007199254740993'],
    ['-9007199254740993'],
    ['123456789012345678901234567890'],
    ['0.12345678901234567891'],
    ['1e+400'],
    ['1.5e-400'],
    ['3.14159265358979323846264338327950288'],
  ])('keeps every digit of %s', (literal) => {
    expect(rewrite(literal)).toBe(literal);
    expect(parseExactJson(literal)).toBeInstanceOf(Decimal);
  });

  test.each([
    ['0', 0, '0'],
    ['-0', 0, '0'],
    ['-0.00e5', 0, '0'],
    ['0e99999999999999999999', 0, '0'],
    ['0.1', 0.1, '0.1'],
    ['1.0', 1, '1'],
    ['100e-2', 1, '1'],
    ['1e21', 1e21, '1e+21'],
    ['1000000000000000000000', 1e21, '1e+21'],
    ['9007199254740992', 2 ** 53, '9007199254740992'],
    ['0.30000000000000004', 0.1 + 0.2, '0.30000000000000004'],
    ['5e-324', 5e-324, '5e-324'],
    ['1.7976931348623157e308', Number.MAX_VALUE, '1.7976931348623157e+308'],
    ['1e-7', 1e-7, '1e-7'],
  ])('reads %s as a JavaScript number, which keeps it', (literal, value, written) => {
    expect(parseExactJson(literal)).toBe(value);
    expect(rewrite(literal)).toBe(written);
  });

  test.each([
    ['9007199254740993', '9007199254740993.000'],
    ['9007199254740993', '9007199254740993e0'],
    ['1e400', `1${'0'.repeat(400)}`],
    ['1e400', '0.01E+402'],
    ['-12.34567890123456789', '-1234567890123456789e-17'],
  ])('considers %s and %s equal', (one, other) => {
    expect(isDeepStrictEqual(parseExactJson(one), parseExactJson(other))).toBe(true);
    expect(canonicalJson([parseExactJson(one)])).toBe(canonicalJson([parseExactJson(other)]));
  });

  test('distinguishes numbers that JavaScript rounds to the same number', () => {
    const [one, other] = [parseExactJson('9007199254740993'), parseExactJson('9007199254740992')];
    expect(isDeepStrictEqual(one, other)).toBe(false);
    expect(canonicalJson({ one })).toBe('{"one":9007199254740993}');
  });

  test('reads strings that look like numbers, keys and escapes as JSON.parse does', () => {
    const text = String.raw`{"a, 9007199254740993":": 1e400 ","\u2028\ud83d\ude00\ud800":[true,false,null,"\"\\\n\u0000"],"x":{},"y":[[]],"n":1e400}`;
    const { n, ...rest } = Object(parseExactJson(text));
    expect(rest).toEqual(JSON.parse(text.replace(',"n":1e400', '')));
    expect(String(n)).toBe('1e+400');
  });

  test('keeps a key __proto__, with and without long numbers', () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"__proto__":{"a":9007199254740993}}'])
      expect(JSON.stringify(parseExactJson(text))).toBe(text);
  });

  test('takes the last of two equal keys, or refuses them by name', () => {
    const text = '{"list":[{"a":1,"a":9007199254740993}]}';
    expect(JSON.stringify(parseExactJson(text))).toBe('{"list":[{"a":9007199254740993}]}');
    expect(() => parseExactJson('{"b":[{"a":1,"\\u0061":2}]}', { refusesRepeatedKeys: true })).toThrow(
      'it has the key "a" twice in one object',
    );
    expect(parseExactJson('{"a":{"a":1},"b":{"a":2}}', { refusesRepeatedKeys: true })).toEqual({
      a: { a: 1 },
      b: { a: 2 },
    });
  });

  test('refuses invalid JSON and JSON that nests too deep', () => {
    expect(() => parseExactJson('{"a":01}')).toThrow('it is not valid JSON');
    expect(() => parseExactJson('[1] 2')).toThrow('it is not valid JSON');
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(() => parseExactJson(nested(maxReadDepth + 1))).toThrow('nested deeper than 1000 levels');
    expect(parseExactJson(nested(maxReadDepth))).toBeInstanceOf(Array);
    expect(parseWrittenJson(nested(3))).toEqual([[[]]]);
  });

  test('refuses to store numbers that PostgreSQL would write with too many digits', () => {
    expect(findUnstorable(parseExactJson('[1e999]'))).toBeNull();
    for (const literal of ['1e1000', '1e100000', '1e-1001', `0.${'1'.repeat(1001)}`, '1e999999999999999999999'])
      expect(findUnstorable(parseExactJson(`{"a":[${literal}]}`))).toContain('more than 1000 digits');
  });
});
