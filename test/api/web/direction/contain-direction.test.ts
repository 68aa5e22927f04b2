import { expect, it, test } from 'vitest';
import { canTurn, containDirection, isolateWords } from '#api/web/direction/contain-direction.ts';

it('each bidirectional control is replaced by a visible character', () => {
  expect(containDirection('a\u202eb\u202c \u2067c\u2069')).toBe('a\ufffdb\ufffd \ufffdc\ufffd');
});

it('a paragraph separator is replaced by a space', () => {
  expect(containDirection('a\u2029b\nc')).toBe('a b\nc');
});

it('letters that are written from right to left are kept', () => {
  expect(containDirection('שלום a\u200f')).toBe('שלום a\u200f');
});

test.each(['שלום', 'سلام', 'a\u200f', '\u202ea', 'a\u2069', '\u{1e900}'])(
  '%j can change the direction of text beside it',
  (text) => {
    expect(canTurn(text)).toBe(true);
  },
);

test.each(['', 'zone.sync', 'Grüße 漢字 👩\u200d💻', 'a\u200eb', 'a\nb'])('%j changes no direction', (text) => {
  expect(canTurn(text)).toBe(false);
  expect(isolateWords(text)).toBe(text);
});

it('words that could change the direction of others are isolated by controls', () => {
  expect(isolateWords('a\u2069\u202eb')).toBe('\u2066a\ufffd\ufffdb\u2069');
});
