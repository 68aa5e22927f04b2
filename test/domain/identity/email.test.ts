import { expect, it } from 'vitest';
import { Email } from '#domain/identity/model.ts';

it.each([
  ['a Cyrillic letter', 'an\u0430@example.com'],
  ['a Kelvin sign, whose small letter is k', '\u212aim@example.com'],
  ['a wide letter', '\uff41na@example.com'],
  ['an i without its dot', 'k\u0131m@example.com'],
  ['a character without a width', 'a\u200bna@example.com'],
  ['a domain in another script', 'ana@ex\u0430mple.com'],
])('an address with %s is refused: it would look like that of somebody else', (_, address) => {
  expect(Email.safeParse(address).success).toBe(false);
});
