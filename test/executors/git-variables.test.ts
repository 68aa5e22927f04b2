import { expect, test } from 'vitest';
import { gitVariables } from '#executors/modules/git-variables.ts';

const spellings = (url: string) =>
  Object.entries(gitVariables([{ url, place: 'http://relay/1' }], []))
    .filter(([name]) => name.startsWith('GIT_CONFIG_VALUE'))
    .map(([, value]) => value);

test('the address of a connection over SSH is recognized in each notation', () => {
  expect(spellings('ssh://git%2Bci@example.org/acme/')).toEqual([
    'ssh://git%2Bci@example.org/acme/',
    'ssh://git+ci@example.org:22/acme/',
    'git+ci@example.org:acme/',
  ]);
});

test('a user name with an invalid escape in an SSH address stays as it is', () => {
  expect(spellings('ssh://a%zz@example.org/acme/')).toContain('a%zz@example.org:acme/');
});
