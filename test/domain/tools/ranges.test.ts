import { describe, expect, it } from 'vitest';
import { canBeSatisfied, compareVersions, isInRanges, parseRange, type VersionRange } from '#domain/tools/ranges.ts';

function rangeOf(text: string): VersionRange {
  const range = parseRange(text);
  if (!range) throw new Error(`"${text}" is no range`);
  return range;
}

describe('a range', () => {
  it.each([
    ['~> 1.9', '1.9.0', true],
    ['~> 1.9', '1.14.2', true],
    ['~> 1.9', '2.0.0', false],
    ['~> 1.9.2', '1.9.8', true],
    ['~> 1.9.2', '1.10.0', false],
    ['~> 1.9.2', '1.9.1', false],
    ['~> 1', '3.0.0', true],
    ['>= 1.5, < 2.0', '1.5.0', true],
    ['>= 1.5, < 2.0', '2.0.0', false],
    ['>=1.5,!=1.6.0', '1.6.0', false],
    ['1.12.6', '1.12.6', true],
    ['= v1.12.6', '1.12.7', false],
    ['> 1.12.6', '1.12.6', false],
    ['<= 1.12', '1.12.0', true],
    ['>= 1.5', '1.6.0-rc1', false],
    ['= 1.6.0-rc1', '1.6.0-rc1', true],
    ['>= 1.6.0-beta1', '1.6.0-rc1', true],
    ['>= 1.6.0-beta1', '1.6.0', true],
    ['>= 1.6.0-beta1', '1.7.0-beta1', false],
    ['>= 1.0', 'unknown', false],
  ])('%s includes the version %s: %s', (range, version, expected) => {
    expect(isInRanges(version, [rangeOf(range)])).toBe(expected);
  });

  it.each(['', '1.x', '^1.5', '>= 1.5 < 2', '~>', '1.2.3.4', 'latest', `>= 1.${'0'.repeat(300)}`])(
    'is refused if it is written as "%s"',
    (text) => {
      expect(parseRange(text)).toBeUndefined();
    },
  );
});

describe('an intersection of ranges', () => {
  it.each([
    [['~> 1.9', '< 1.9'], false],
    [['~> 1.9', '!= 1.9.0, < 1.9.1'], false],
    [['> 1.5.0', '< 1.5.1'], false],
    [['>= 1.5.0, < 1.5.3', '!= 1.5.0, != 1.5.1'], true],
    [['>= 1.5.0, < 1.5.2', '!= 1.5.0, != 1.5.1'], false],
    [['= 1.6.0-rc1', '>= 1.6.0-beta1'], true],
    [['= 1.6.0-rc1', '>= 1.5'], false],
    [['< 0.13'], true],
    [[], true],
  ])('an intersection of ranges of %j says whether any version can be in it', (ranges, expected) => {
    expect(canBeSatisfied(ranges.map(rangeOf))).toBe(expected);
  });
});

it('versions are ordered by their numbers, and pre-releases come before their release', () => {
  const sorted = ['1.9.8', '1.10.0-alpha1', '1.10.0-rc1', '1.10.0', '1.12.6'];
  expect(sorted.toReversed().toSorted(compareVersions)).toEqual(sorted);
});
