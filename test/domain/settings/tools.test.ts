import { satisfies } from 'semver';
import { expect, it } from 'vitest';
import { AllowedTools, StoredTools, toStoredTools } from '#domain/settings/allowed-tools.ts';
import { isToolAllowed } from '#domain/settings/tools.ts';

const opentofu = (version: string) => ({ name: 'opentofu', version });

it.each([
  [['~> 1.9'], '1.10.3', true],
  [['~> 1.9'], '2.0.0', false],
  [['>= 1.8, < 2.0'], '1.8.0', true],
  [['1.9'], '1.9.1', false],
  [['1.7.2', '1.9.1'], '1.9.1', true],
  [['*'], '12.0.0', true],
  [['*'], '1.9.0-rc1', false],
])('the ranges %j of the settings include the version %s as those of templates do: %s', (ranges, version, expected) => {
  expect(isToolAllowed({ opentofu: ranges }, opentofu(version))).toBe(expected);
});

it('a tool that the settings do not name is refused, and every tool is allowed if they name none', () => {
  expect(isToolAllowed({ opentofu: ['*'] }, { name: 'terraform', version: '1.9.0' })).toBe(false);
  expect(isToolAllowed(undefined, { name: 'terraform', version: '1.9.0' })).toBe(true);
});

it('a range that an earlier release stored keeps its meaning of npm ranges', () => {
  const stored = StoredTools.parse({ opentofu: ['~> 1.9'] });
  expect(isToolAllowed(stored, opentofu('1.9.5'))).toBe(true);
  expect(isToolAllowed(stored, opentofu('1.10.0'))).toBe(false);
});

it('the settings accept their own answer if an earlier release stored the maximum of ranges', () => {
  const stored = Array.from({ length: 20 }, () =>
    Array.from({ length: 67 }, () => '0')
      .join('||')
      .slice(0, 200),
  );
  const shown = StoredTools.parse({ opentofu: stored });
  expect(shown.opentofu?.length).toBeGreaterThan(20);
  expect(AllowedTools.parse(shown)).toEqual(shown);
});

it.each([
  ['numbers', (index: number) => String(index)],
  ['minor versions', (index: number) => `${Math.floor(index / 10)}.${index % 10}`],
  ['bounds', (index: number) => `>=${index}`],
  ['pre-releases', (index: number) => `>=1.${index}.0-a`],
])(
  'the longest range of %s that an earlier release can have stored keeps its meaning, and the settings accept it again',
  (_of, token) => {
    const tokens = Array.from({ length: 200 }, (_, index) => token(index)).join(' ');
    const stored = tokens.slice(0, tokens.lastIndexOf(' ', 200));
    const shown = StoredTools.parse({ opentofu: [stored] });
    expect(Math.max(...(shown.opentofu ?? []).map(({ length }) => length))).toBeGreaterThan(200);
    expect(AllowedTools.parse(shown)).toEqual(shown);
    for (const version of ['0.0.0', '1.0.0', '60.1.0', '200.0.0'])
      expect(isToolAllowed(shown, opentofu(version))).toBe(satisfies(version, stored));
  },
);

it('ranges read from the database equal those that were stored', () => {
  const allowed = { opentofu: ['~> 1.9', '*'], command: ['*'] };
  expect(StoredTools.parse(toStoredTools(allowed))).toEqual(allowed);
});
