import { expect, it, test } from 'vitest';
import { canTurn, containDirection, isolateWords } from '#api/web/direction/contain-direction.ts';

test.each([
  ['a control without its end', 'a\u202eb', 'a\u202eb\u202c'],
  ['controls inside each other', '\u2067\u202ba', '\u2067\u202ba\u202c\u2069'],
  ['the end of an isolate that encloses others', '\u2067\u202ba\u2069b', '\u2067\u202ba\u2069b'],
  ['ends of nothing', 'a\u2069\u202cb\u202e', 'ab\u202e\u202c'],
  ['the end of an embedding inside an isolate', '\u202b\u2066a\u202cb', '\u202b\u2066ab\u2069\u202c'],
  ['a control on one of several lines', 'a\u202eb\nc\u202cd', 'a\u202eb\u202c\ncd'],
  ['an end of a paragraph that no page shows', '\u202ea\u2029b', '\u202ea\u202c b'],
  ['text without controls', 'שלום a', 'שלום a'],
])('%s is contained', (_situation, text, contained) => {
  expect(containDirection(text)).toBe(contained);
  expect(containDirection(contained)).toBe(contained);
});

it('many controls without an end take no long time', () => {
  const [starts, ends] = ['\u202e'.repeat(200_000), '\u2069'.repeat(200_000)];
  expect(containDirection(starts + ends)).toBe(starts + '\u202c'.repeat(200_000));
});

test.each(['שלום', 'سلام', 'a\u200f', '\u202ea', 'a\u2069', '\u{1e900}'])(
  '%j can turn what stands beside it',
  (text) => {
    expect(canTurn(text)).toBe(true);
  },
);

test.each(['', 'zone.sync', 'Grüße 漢字 👩\u200d💻', 'a\u200eb', 'a\nb'])('%j turns nothing', (text) => {
  expect(canTurn(text)).toBe(false);
  expect(isolateWords(text)).toBe(text);
});

it('words that could turn others are isolated by controls', () => {
  expect(isolateWords('a\u2069\u202eb')).toBe('\u2066a\u202eb\u202c\u2069');
});
