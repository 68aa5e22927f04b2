import { describe, expect, it } from 'vitest';
import { humanName, withoutMisleading } from '#domain/shared/values/human-name.ts';

const Name = humanName(80);

const seen = [
  'Ana',
  'Núñez O’Neill',
  'Nguye\u0302\u0303n Tha\u0323\u0306ng',
  '支払い',
  'ガギグゲゴ',
  'מרים',
  'בְּרֵאשִׁ֖ית',
  'สมชาย น้ำทิพย์',
  'မြို့ လျှို့ဝှက်',
  'می\u200cخواهم',
  'ه\u200d',
  'क\u094d\u200dष',
  'র\u200d\u09cdযাব',
  'ශ\u0dca\u200dරී',
  '❤\ufe0f',
  '👩\u200d💻',
  '👨\u200d👩\u200d👧',
  '🏳\ufe0f\u200d🌈',
  '🕵🏽\u200d♂\ufe0f',
  '👍🏽',
];

const hidden: readonly (readonly [string, string])[] = [
  ['a\nb', 'U+000A'],
  ['a\u007fb', 'U+007F'],
  ['a\u00adb', 'U+00AD'],
  ['a\u034fb', 'U+034F'],
  ['a\u061cb', 'U+061C'],
  ['a\u115fb', 'U+115F'],
  ['ad\u200bmin', 'U+200B'],
  ['ad\u200cmin', 'U+200C'],
  ['ad\u200dmin', 'U+200D'],
  ['a\u200eb', 'U+200E'],
  ['a\u2028b', 'U+2028'],
  ['a\u202egnp.b', 'U+202E'],
  ['a\u2066b', 'U+2066'],
  ['a\u3164b', 'U+3164'],
  ['a\ufe0fb', 'U+FE0F'],
  ['a\u{e0041}b', 'U+E0041'],
  ['\u2800', 'U+2800'],
  ['\u{1d159}', 'U+1D159'],
  ['\u{13441}', 'U+13441'],
  ['a\ue000b', 'U+E000'],
  ['Cafe\u0301\u200d', 'U+200D'],
  ['Cafe\u0301\u200cs', 'U+200C'],
  ['a\u094d\u200db', 'U+200D'],
  ['山\u200d田', 'U+200D'],
  ['한\u200c국', 'U+200C'],
  ['カ\u200dナ', 'U+200D'],
  ['می\u200c\u200cخواهم', 'U+200C'],
  ['می\u200c', 'U+200C'],
  ['👩\u200d', 'U+200D'],
  ['❤\ufe0f\ufe0f', 'U+FE0F'],
];

describe('a name for people', () => {
  it.each(seen)('such as %s is accepted, with the joiners and the emoji that people see', (name) => {
    expect(Name.safeParse(name)).toMatchObject({ success: true, data: name });
  });

  it.each(hidden)('such as %j is refused with the code point of what nobody sees: %s', (name, point) => {
    expect(Name.safeParse(name).error?.issues).toMatchObject([
      { message: expect.stringContaining(`the character ${point}:`) },
    ]);
  });

  it.each([
    ['Ana\u00a0Lima', 'U+00A0'],
    ['Ana\u2003Lima', 'U+2003'],
    ['山田\u3000太郎', 'U+3000'],
  ])('such as %j is refused with the code point of the space that is not U+0020: %s', (name, point) => {
    expect(Name.safeParse(name).error?.issues).toMatchObject([
      { message: `must not contain the character ${point}: the only space that names may have is U+0020` },
    ]);
  });

  it('is accepted with four combining marks in a row, and refused with five', () => {
    expect(Name.safeParse(`a${'\u0301'.repeat(4)}`).success).toBe(true);
    expect(Name.safeParse(`a${'\u0301'.repeat(5)}`).error?.issues).toMatchObject([
      { message: 'must not have more than 4 combining marks in a row' },
    ]);
  });

  it('is refused if it is empty or longer than its limit', () => {
    expect(Name.parse('  Ana  ')).toBe('Ana');
    for (const bad of ['', '   ', 'x'.repeat(81)]) expect(Name.safeParse(bad).success).toBe(false);
  });
});

describe('text in which misleading characters were replaced', () => {
  it.each(seen)('keeps the name %s', (name) => {
    expect(withoutMisleading(name)).toBe(name);
  });

  it.each([...hidden.map(([name]) => name), 'Ana\u00a0Lima', `a${'\u0301'.repeat(60)}`])(
    'is a name that would be accepted, if it was %j',
    (name) => {
      expect(Name.safeParse(`a ${withoutMisleading(name)} b`).error?.issues).toBeUndefined();
    },
  );
});
