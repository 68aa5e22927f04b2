import { expect, it } from 'vitest';
import { isBelow } from '#domain/connections/kinds/git.ts';

it.each([
  ['https://git.example.com/acme/network.git', 'https://git.example.com/acme/', true],
  ['https://git.example.com/acme/network.git', 'https://git.example.com/acme', true],
  ['https://git.example.com/acme/network.git', 'https://git.example.com', true],
  ['https://GIT.example.com:443/acme/x', 'https://git.example.com/acme/', true],
  ['https://git.example.com/acme-evil/x', 'https://git.example.com/acme', false],
  ['https://git.example.com/acme/../evil/x', 'https://git.example.com/acme/', false],
  ['https://git.example.com/acme/%2e%2e/evil/x', 'https://git.example.com/acme/', false],
  ['ssh://git@git.example.com/acme/..%2fother/secret.git', 'ssh://git@git.example.com/acme/', false],
  ['https://git.example.com/acme/..%2Fother/x', 'https://git.example.com/acme/', false],
  ['https://git.example.com/acme/..%5cother/x', 'https://git.example.com/acme/', false],
  ['https://git.example.com/acme/x%00', 'https://git.example.com/acme/', false],
  ['https://git.example.com.evil.net/acme/x', 'https://git.example.com/acme/', false],
  ['https://git.example.com:8443/acme/x', 'https://git.example.com/acme/', false],
  ['http://git.example.com/acme/x', 'https://git.example.com/acme/', false],
  ['ssh://git@git.example.com/acme/x', 'ssh://git@git.example.com/', true],
  ['ssh://other@git.example.com/acme/x', 'ssh://git@git.example.com/', false],
  ['ssh://git@git.example.com:2222/acme/x', 'ssh://git@git.example.com/', false],
])('the address %s is below %s: %s', (repository, prefix, expected) => {
  expect(isBelow(repository, prefix)).toBe(expected);
});
