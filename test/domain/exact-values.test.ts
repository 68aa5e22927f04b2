import { describe, expect, it } from 'vitest';
import { printValue } from '#api/web/components/value-change/print.ts';
import { compareContents } from '#domain/instances/state/state-comparison.ts';
import { validateExactly } from '#domain/registry/variables/exact-numbers.ts';
import { validateVariables } from '#domain/registry/variables/variables.ts';
import { deviationsOf } from '#domain/runs/plans/deviations.ts';
import { listValueChanges } from '#domain/shared/values/comparison/value-changes.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { inputsOf, isSameLeaf, leavesOf } from '#domain/undo/change/leaves.ts';

const [large, other] = ['9007199254740993', '9007199254740992'];
const read = (text: string) => parseExactJson(text);

describe('two numbers that JavaScript rounds to the same number', () => {
  it('differ in a comparison of values, and are printed with all their digits', () => {
    const { changes } = listValueChanges(read(`{"n":[${large}]}`), read(`{"n":[${other}]}`));
    expect(changes.map(({ kind, before, after }) => [kind, String(before ?? after)])).toEqual([
      ['removed', large],
      ['added', other],
    ]);
    expect(printValue(read(`{"n":[${large}]}`), 100).text).toBe(`{\n  "n": [\n    ${large}\n  ]\n}`);
  });

  it('differ in JSON inside of strings', () => {
    const { changes } = listValueChanges({ policy: `{"n": ${large}}` }, { policy: `{"n":${other}}` });
    expect(changes).toMatchObject([{ label: 'policy (JSON) n', kind: 'changed' }]);
  });

  it('differ between two states, unlike the same number in another notation', () => {
    const state = (n: string) => ({
      content: Buffer.from(
        `{"version":4,"resources":[{"mode":"managed","type":"t","name":"x","instances":[{"attributes":{"n":${n}}}]}]}`,
      ),
      maskedAddresses: {},
    });
    expect(compareContents(state(large), state(other)).changes).toMatchObject([{ address: 't.x', action: 'update' }]);
    expect(compareContents(state(large), state(`${large}.0`))).toMatchObject({ changes: [], unchanged: 1 });
    expect(compareContents(state('1'), state('1.0e0'))).toMatchObject({ changes: [], unchanged: 1 });
  });

  it('are a deviation that a scan reports', () => {
    const change = {
      address: 't.x',
      action: 'update' as const,
      before: read(`{"n":${large}}`),
      after: read(`{"n":${other}}`),
    };
    const [deviation] = deviationsOf([change]);
    expect([String(deviation?.before), String(deviation?.after)]).toEqual([large, other]);
  });

  it('differ in the inputs that an undo compares, and are restored with all digits', () => {
    const leaves = (n: string) =>
      leavesOf(
        { version: '1.0.0', variables: { deep: read(`{"n":${n},"list":[${n}]}`) }, environment: {} },
        { names: new Set(), hash: () => '' },
      );
    const one = leaves(large);
    expect(isSameLeaf(one.get('/variables/deep/n'), leaves(other).get('/variables/deep/n'))).toBe(false);
    expect(isSameLeaf(one.get('/variables/deep/n'), leaves(`${large}.0`).get('/variables/deep/n'))).toBe(true);
    expect(JSON.stringify(inputsOf(one).variables)).toBe(`{"deep":{"list":[${large}],"n":${large}}}`);
  });

  it('cannot be cloned for a thread, which would lose their digits', () => {
    expect(() => structuredClone(read(`[${large}]`))).toThrow('could not be cloned');
  });
});

describe('a schema and a number with more digits than JavaScript has', () => {
  const check = (schema: object, text: string) => {
    const whole = { type: 'object', properties: { n: schema, other: { default: 'filled' } } } as never;
    return validateExactly(whole, { n: read(text) }, (values) => validateVariables(whole, values));
  };

  it.each([
    [{}, large],
    [{ type: 'number' }, large],
    [{ type: 'number', minimum: 1e300 }, '1e+400'],
    [{ type: 'integer', minimum: 1, maximum: 1e18 }, large],
    [{ type: 'array', items: { type: 'number' } }, `[1, ${large}]`],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, '0.12345678901234567891'],
    [{ enum: ['a', 1] }, '"a"'],
  ])('the schema %j accepts the value %s, with defaults filled in', async (schema, text) => {
    const { valid, variables } = await check(schema, text);
    expect(valid).toBe(true);
    expect(JSON.stringify(variables)).toBe(`{"n":${text.replace(' ', '')},"other":"filled"}`);
  });

  it.each([
    [{ type: 'integer', maximum: 9007199254740992 }, large],
    [{ multipleOf: 3 }, large],
    [{ type: 'integer' }, '9007199254740992.5'],
    [{ type: 'array', uniqueItems: true }, `[${large}, ${large}1]`],
  ])('the schema %j refuses the value %s because it cannot compare so many digits', async (schema, text) => {
    const { valid, errors } = await check(schema, text);
    expect(valid).toBe(false);
    expect(errors).toEqual([
      { path: '/n', message: expect.stringContaining('a number with more digits than the schema') },
    ]);
  });

  it.each([
    [{ type: 'string' }, large, 'must be a string'],
    [{ type: 'integer' }, '0.12345678901234567891', 'must be an integer'],
    [{ maximum: 5 }, large, 'must be at most 5'],
    [{ enum: [1, 2] }, large, 'must be one of 1, 2'],
  ])('the schema %j refuses the value %s with its usual message', async (schema, text, message) => {
    expect((await check(schema, text)).errors).toEqual([{ path: '/n', message }]);
  });
});
