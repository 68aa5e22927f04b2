import { expect, it } from 'vitest';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';

const limit = wholeNumber({ min: 1, max: 200 });
const message = 'expected a whole number from 1 to 200';

it.each(['0', '201', '0x10', '1e2', ' 1', '1 ', '+1', '-1', '1.0', '', '17179869183', '९', 'abc'])(
  'a whole number is refused if it is written as %j',
  (text) => {
    expect(limit.safeParse(text).error?.issues[0]?.message).toBe(message);
  },
);

it('a whole number in decimal digits within its bounds is accepted', () => {
  expect([limit.parse('1'), limit.parse('200'), limit.parse('007')]).toEqual([1, 200, 7]);
});

it('a number that no column of type int holds is refused without other bounds', () => {
  expect(wholeNumber({ min: 0 }).parse('2147483647')).toBe(2_147_483_647);
  expect(wholeNumber({ min: 0 }).safeParse('2147483648').success).toBe(false);
});
