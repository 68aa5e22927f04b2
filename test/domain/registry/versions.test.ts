import { describe, expect, it } from 'vitest';
import { Tags, Version } from '#domain/registry/model.ts';
import { resolveVersion } from '#domain/registry/versions.ts';

const versions = (...texts: string[]) =>
  texts.map((text) => ({ version: text.replace('!', ''), yanked: text.endsWith('!') }));

const resolve = (available: string[], wanted: string) => resolveVersion(versions(...available), wanted).version;

describe('a version in a request', () => {
  it.each(['0.0.0', '1.4.0', '10.20.30', '1.0.0-rc.1', '1.0.0-alpha-x.7'])('may be %s', (text) => {
    expect(Version.safeParse(text).success).toBe(true);
  });

  it.each([
    'v1.0.0',
    '=1.0.0',
    ' 1.0.0',
    '1.0.0 ',
    '1.0.0\n',
    '1.0',
    '1',
    '01.0.0',
    '1.0.0-01',
    '1.0.0+a',
    '1.0.0-rc.1+build',
    '1.0.0-',
    'latest',
    '^1.0.0',
    '',
    '9007199254740993.0.0',
    `1.0.0-${'a'.repeat(64)}`,
    '１.0.0',
  ])('may not be %j', (text) => {
    expect(Version.safeParse(text).success).toBe(false);
  });
});

describe('resolving a version', () => {
  const available = ['1.0.0', '1.2.0', '1.10.0', '1.9.9', '2.0.0-rc.1', '0.9.0'];

  it.each([
    ['1.2.0', '1.2.0'],
    ['^1.2', '1.10.0'],
    ['~1.9', '1.9.9'],
    ['~1', '1.10.0'],
    ['1', '1.10.0'],
    ['1.x', '1.10.0'],
    ['>=1 <1.10', '1.9.9'],
    ['<1 || >=1.9 <1.10', '1.9.9'],
    ['0.9.0 - 1.2', '1.2.0'],
    ['latest', '1.10.0'],
    ['*', '1.10.0'],
    ['2.0.0-rc.1', '2.0.0-rc.1'],
    ['^2.0.0-0', '2.0.0-rc.1'],
  ])('resolves %s to %s', (wanted, expected) => {
    expect(resolve(available, wanted)).toBe(expected);
  });

  it('skips yanked versions, except by their exact name', () => {
    expect(resolve(['1.0.0', '1.1.0!'], '^1')).toBe('1.0.0');
    expect(resolve(['1.0.0', '1.1.0!'], 'latest')).toBe('1.0.0');
    expect(resolveVersion(versions('1.0.0', '1.1.0!'), '1.1.0')).toEqual({ version: '1.1.0', yanked: true });
    expect(() => resolve(['1.0.0', '1.1.0!'], '=1.1.0')).toThrow(
      'every version that matches "=1.1.0" was yanked; name one exactly to use it all the same; available: 1.1.0 (yanked)',
    );
    expect(() => resolve(['1.0.0!'], 'latest')).toThrow(/was yanked/);
  });

  it('resolves latest to a pre-release only if there is no release that is not yanked', () => {
    expect(resolve(['1.0.0-rc.2', '1.0.0-rc.10'], 'latest')).toBe('1.0.0-rc.10');
    expect(resolve(['1.0.0', '1.1.0-rc.1'], 'latest')).toBe('1.0.0');
    expect(resolve(['1.0.0!', '1.1.0-rc.1'], 'latest')).toBe('1.1.0-rc.1');
    expect(() => resolve(['1.1.0-rc.1'], '^1')).toThrow('only pre-releases match "^1": name one of them exactly');
  });

  it('resolving an unknown version names the available ones', () => {
    expect(() => resolve([], 'latest')).toThrow('the template has no published version');
    expect(() => resolve([], '1.0.0')).toThrow('the template has no version 1.0.0');
    expect(() => resolve(['1.0.0', '2.0.0!'], '3.0.0')).toThrow(
      'the template has no version 3.0.0; available: 2.0.0 (yanked), 1.0.0',
    );
    expect(() => resolve(available, '^3')).toThrow(
      /^no version matches "\^3"; available: 2\.0\.0-rc\.1, 1\.10\.0, .*, …$/,
    );
  });

  it.each(['', ' ', 'newest', '^', '1.2.3.4', 'git+ssh://x', '1 '.repeat(100), '>'.repeat(5000), '\0'])(
    'refuses %j, which is neither a version nor a range',
    (wanted) => {
      expect(() => resolve(available, wanted)).toThrow(/expected an exact version/);
    },
  );
});

it('a template has at most 20 tags', () => {
  const tags = (count: number) => Array.from({ length: count }, (_each, index) => `tag-${index}`);
  expect(Tags.safeParse(tags(20)).success).toBe(true);
  expect(Tags.safeParse(tags(21)).success).toBe(false);
});
