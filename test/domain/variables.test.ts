import { describe, expect, it } from 'vitest';
import { concernsSecret } from '#domain/variables/changes.ts';
import type { NewVariable } from '#domain/variables/model.ts';
import { refuseUnusable } from '#domain/variables/rules.ts';
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
    'replacing all variables in a way that %s requires the right to manage secrets only if it changes a secret',
    (_what, wanted, current, expected) => {
      expect(concernsSecret(wanted, current)).toBe(expected);
    },
  );
});

describe('the value of a variable', () => {
  const texts = (length: number) => 'x'.repeat(length - 2);

  it.each<[string, NewVariable, number]>([
    ['of the environment has at most 64 KiB as JSON', plain, 64 * 1024],
    ['of the template has at most 256 KiB as JSON', { ...plain, category: 'template' }, 256 * 1024],
  ])('%s', (_what, variable, longest) => {
    refuseUnusable({ ...variable, value: texts(longest) }, undefined);
    expect(() => refuseUnusable({ ...variable, value: texts(longest + 1) }, undefined)).toThrow(/must have at most/);
  });

  it.each<[string, NewVariable, ShownVariable | undefined, RegExp]>([
    ['there is none yet', kept, undefined, /there is no variable "TOKEN"/],
    ['the former one was not secret', { ...kept, name: 'REGION' }, region, /"REGION" is not sensitive/],
    ['it is to be secret no longer', { ...kept, sensitive: false }, token, /"TOKEN" is sensitive: say/],
    ['it is to be in another category', { ...kept, category: 'template' }, token, /only in its category/],
  ])('cannot be left out if %s', (_why, variable, before, expected) => {
    expect(() => refuseUnusable(variable, before)).toThrow(expected);
  });

  it('can be left out if the variable is secret before and after', () => {
    expect(() => refuseUnusable(kept, token)).not.toThrow();
  });
});
