import { describe, expect, it } from 'vitest';
import { concernsSecret } from '#domain/variables/changes.ts';
import type { NewVariable } from '#domain/variables/model.ts';
import type { ShownVariable } from '#domain/variables/store.ts';

const plain: NewVariable = { name: 'REGION', value: 'eu', category: 'env', sensitive: false };
const kept: NewVariable = { name: 'TOKEN', category: 'env', sensitive: true };
const unsaid = { value: null, planValue: null, hasPlanValue: false };
const facts = { ...unsaid, phases: ['plan', 'apply'], revision: 1, updatedAt: '' } as const;
const token: ShownVariable = { ...facts, name: 'TOKEN', category: 'env', sensitive: true };
const region: ShownVariable = { ...facts, name: 'REGION', category: 'env', sensitive: false, value: 'us' };

describe('replacing all variables', () => {
  it.each<[string, NewVariable[], ShownVariable[], boolean]>([
    ['keeps a secret and changes others', [kept, plain], [token, region], false],
    ['keeps a secret in the same phases', [{ ...kept, phases: ['apply', 'plan'] }], [token], false],
    ['removes a secret', [plain], [token], true],
    ['adds a secret', [{ ...kept, value: 'x' }], [], true],
    ['gives a secret another value', [{ ...kept, value: 'x' }], [token], true],
    ['gives a secret in other phases', [{ ...kept, phases: ['plan'] }], [token], true],
    ['makes a secret plain', [{ ...kept, sensitive: false, value: 'x' }], [token], true],
    ['makes a plain variable secret', [{ ...plain, sensitive: true }], [region], true],
  ])(
    'replacing all variables in a way that %s takes the right to manage secrets only if it concerns one',
    (_what, wanted, current, expected) => {
      expect(concernsSecret(wanted, current)).toBe(expected);
    },
  );
});
