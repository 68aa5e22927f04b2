import { describe, expect, it } from 'vitest';
import { humanName } from '#domain/shared/values/human-name.ts';

const Name = humanName(20);

describe('a name for people', () => {
  it('is accepted in every script, with the joiners and the emoji that people see', () => {
    const seen = [
      'Ana',
      'Núñez O’Neill',
      '支払い',
      'מרים',
      'می\u200cخواهم',
      'क\u094d\u200dष',
      '❤\ufe0f',
      '👩\u200d💻',
      '👍🏽',
    ];
    for (const name of seen) expect(Name.safeParse(name), name).toMatchObject({ success: true, data: name });
  });

  it('is refused with the code point of a character that nobody sees or that turns the direction of text', () => {
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
    ];
    for (const [name, point] of hidden)
      expect(Name.safeParse(name).error?.issues, point).toMatchObject([
        { message: expect.stringContaining(`the character ${point}:`) },
      ]);
  });

  it('says something, in as many characters as there is room for', () => {
    expect(Name.parse('  Ana  ')).toBe('Ana');
    for (const bad of ['', '   ', 'x'.repeat(21)]) expect(Name.safeParse(bad).success).toBe(false);
  });
});
