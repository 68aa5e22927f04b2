import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { secretHashOf } from '#domain/runs/admission/inputs/inputs.ts';
import { KeyRing } from '#domain/shared/secrets.ts';

const ring = () => new KeyRing([{ id: 'a', key: randomBytes(32) }]);

it('equal secrets have equal hashes within a scope, and nobody can compare them across scopes or key rings', () => {
  const keyRing = ring();
  const [here, elsewhere, other] = [
    secretHashOf(keyRing, 'one'),
    secretHashOf(keyRing, 'two'),
    secretHashOf(ring(), 'one'),
  ];
  expect(here('hunter2')).toBe(secretHashOf(keyRing, 'one')('hunter2'));
  expect(here({ a: 1, b: 2 })).toBe(here({ b: 2, a: 1 }));
  expect(here('hunter2')).not.toBe(here('hunter3'));
  expect(here('1')).not.toBe(here(1));
  expect(elsewhere('hunter2')).not.toBe(here('hunter2'));
  expect(other('hunter2')).not.toBe(here('hunter2'));
});
