import { expect, test } from 'vitest';
import { areGiven } from '#executors/opentofu/plan-file/addresses.ts';

test.each([
  ['a.b', 'a.b'],
  ['module.m["k"].a.b[0]', ' module . m [ "k" ] . a.b[ 00 ] '],
  ['a.b["\\u00e4 \\"$${x}"]', 'a.b["ä \\"$${x}"]'],
  ['a.b["e\u0301"]', 'a.b["\u00e9"]'],
  ['data.a.b-c', 'data.a.b-c'],
])('the address %s of a plan matches the option %s', (found, given) => {
  expect(areGiven([found], [given])).toBe(true);
});

test.each([
  ['a.b', 'a.c'],
  ['a.b[0]', 'a.b'],
  ['a.b[0]', 'a.b["0"]'],
  ['a.b["x]"]', 'a.b["x"]'],
  ['a.b["\\n"]', 'a.b["n"]'],
  ['not an address', 'a.b'],
])('the address %s of a plan does not match the option %s', (found, given) => {
  expect(areGiven([found], ['d.e', given])).toBe(false);
});

test('any address of a plan matches if an option has an unknown form', () => {
  expect(areGiven(['a.b'], ['a.b /* why */'])).toBe(true);
});
