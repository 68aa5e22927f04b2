import { expect, it } from 'vitest';
import { Password } from '#domain/identity/passwords/rules.ts';

it.each([
  ['too short', 'a'],
  ['too short and common', '123456'],
  ['too long', 'x'.repeat(1025)],
  ['made of spaces', ' '.repeat(12)],
  ['common', 'password1'],
])('a new password that is %s has one problem', (_what, password) => {
  expect(Password.safeParse(password).error?.issues).toHaveLength(1);
});
