import semver from 'semver';
import { expect, it } from 'vitest';
import { fromNpmRange } from '#domain/tools/npm-ranges.ts';
import { isInRanges, parseRange } from '#domain/tools/ranges.ts';

const ranges = [
  ...[
    '*',
    'x',
    '1',
    '1.9',
    '1.x',
    '1.9.x',
    '=1.9.1',
    'v1.9.1',
    '^1.8',
    '^0.15.2',
    '~1.9',
    '~> 1.9',
    '~>1.9.1',
    '1.8 - 1.9',
  ],
  ...['>1.9', '>=1.8 <2', '<=1.9', '<1.9', '>*', '>=1.8 *', '1.7.x || >=1.9 <3 || 5', '>=1.8 <99999999999'],
  ...[
    '>=1.9.0-beta1 <2',
    '~1.9.0-rc1',
    '1.9.0-rc1',
    '>=1.8 <1.9.0-rc1',
    '>=1.9.0-beta1 <1.9.0-rc1',
    '>1.9.0-beta1 <=1.9.0',
  ],
  ...['>=1.9.0-beta1 <2.0.0-rc1', '<2.0.0-0', '>=1.9.0-0', '^1.9.0-beta1 || 2.0.0-rc1', '>=1.9.0-beta1 >=1.9.0'],
];
const versions = [
  ...[
    '0.15.1',
    '0.15.9',
    '1.0.0',
    '1.7.5',
    '1.8.0',
    '1.9.0',
    '1.9.1',
    '1.10.0',
    '2.0.0',
    '2.1.0',
    '3.0.0',
    '5.6.7',
    '12.0.0',
  ],
  ...['1.8.0-rc1', '1.9.0-0', '1.9.0-alpha1', '1.9.0-beta1', '1.9.0-beta2', '1.9.0-rc1', '1.9.0-rc2', '1.10.0-beta1'],
  ...['2.0.0-beta1', '2.0.0-rc1', '2.0.0-rc2', '3.0.0-beta1'],
];

it.each(ranges)('the npm range "%s" includes the same versions when it is translated', (range) => {
  const parsed = (fromNpmRange(range) ?? []).map((text) => parseRange(text));
  expect(parsed.length).toBeGreaterThan(0);
  const included = versions.filter((version) => parsed.some((each) => each && isInRanges(version, [each])));
  expect(included).toEqual(versions.filter((version) => semver.satisfies(version, range)));
});

it.each([
  ['>=1.8 <2', ['>= 1.8.0, < 2.0.0']],
  ['^1.8', ['>= 1.8.0, < 2.0.0']],
  ['1.7.x || 1.9', ['>= 1.7.0, < 1.8.0', '>= 1.9.0, < 1.10.0']],
  ['~1.9.0-rc1', ['>= 1.9.0-rc1, < 1.10.0', '~> 1.9.0-0, >= 1.9.0-rc1']],
])('the npm range "%s" is translated to %j', (range, expected) => {
  expect(fromNpmRange(range)).toEqual(expected);
});

it.each(['', ' ', 'newest', '!= 1.8.0', '>= 1.8, < 2.0'])(
  '"%s", which is not a range of npm, has no translation',
  (text) => {
    expect(fromNpmRange(text)).toBeUndefined();
  },
);
