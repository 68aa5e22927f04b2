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

it('ten times as many controls without an end take some ten times as long', () => {
  const timeOf = (count: number) => {
    const text = '\u202e'.repeat(count) + '\u2069'.repeat(count);
    const begun = performance.now();
    expect(containDirection(text)).toBe('\u202e'.repeat(count) + '\u202c'.repeat(count));
    return performance.now() - begun;
  };
  const quickest = (count: number) => Math.min(...Array.from({ length: 4 }, () => timeOf(count)));
  // Looking at all open controls for each of them would take a hundred times as long.
  expect(quickest(300_000) / quickest(30_000)).toBeLessThan(40);
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
