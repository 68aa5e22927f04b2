import { describe, expect, it } from 'vitest';
import { hideAt } from '#domain/shared/values/comparison/hidden.ts';
import { listValueChanges } from '#domain/shared/values/comparison/value-changes.ts';

const secret = { sensitive: true };

describe('the changes between two values', () => {
  it('have a path, a kind, and both sides', () => {
    const { changes, unchanged } = listValueChanges(
      { a: 1, gone: 2, same: [3] },
      { a: { unknown: true }, same: [3], more: 4 },
    );
    expect(changes).toEqual([
      {
        label: 'a',
        path: ['a'],
        kind: 'changed',
        before: 1,
        after: { unknown: true },
        sensitive: false,
        unknown: true,
        truncated: false,
      },
      {
        label: 'gone',
        path: ['gone'],
        kind: 'removed',
        before: 2,
        after: undefined,
        sensitive: false,
        unknown: false,
        truncated: false,
      },
      {
        label: 'more',
        path: ['more'],
        kind: 'added',
        before: undefined,
        after: 4,
        sensitive: false,
        unknown: false,
        truncated: false,
      },
    ]);
    expect(unchanged.map(({ path }) => path)).toEqual([['same']]);
  });

  it('distinguish null from a missing value, unless null counts as missing', () => {
    expect(listValueChanges({ a: null }, {}).changes).toMatchObject([{ kind: 'removed', before: null }]);
    expect(listValueChanges({ a: null }, {}, { isNullMissing: true }).changes).toEqual([]);
    expect(listValueChanges({ a: null }, { a: 1 }, { isNullMissing: true }).changes).toMatchObject([{ kind: 'added' }]);
  });

  it('are counted beyond the limit, and long values are cut around their difference', () => {
    const { changes, omitted } = listValueChanges(
      { a: `${'x'.repeat(500)}1`, b: 1, c: 1 },
      { a: `${'x'.repeat(500)}2`, b: 2, c: 2 },
      { maxChanges: 2, maxValueLength: 100 },
    );
    expect(omitted).toBe(1);
    expect(changes).toMatchObject([
      { truncated: true, before: expect.stringMatching(/x1$/), after: expect.stringMatching(/x2$/) },
      { truncated: false, before: 1, after: 2 },
    ]);
  });

  it('contain a masked secret unless it is known to be unchanged', () => {
    const sides = [{ p: secret }, { p: secret }] as const;
    const known = (changed: boolean) => ({ secrets: { values: [{ path: ['p'], changed }], othersMayChange: true } });
    expect(listValueChanges(...sides, known(true)).changes).toMatchObject([{ note: 'sensitive, changed' }]);
    expect(listValueChanges(...sides, known(false)).changes).toEqual([]);
    expect(listValueChanges(...sides).changes).toMatchObject([
      { note: 'sensitive: it is not known whether it changes' },
    ]);
  });
});

describe('a hidden value', () => {
  const hide = (password: string) => hideAt({ user: { name: 'a', password } }, [['user', 'password']]);

  it('is compared without being shown', () => {
    expect(listValueChanges(hide('hunter2'), hide('hunter2')).changes).toEqual([]);
    const { changes } = listValueChanges(hide('hunter2'), hide('hunter3'));
    expect(changes).toMatchObject([{ path: ['user', 'password'], sensitive: true, note: 'sensitive, changed' }]);
    expect(JSON.stringify(changes)).not.toContain('hunter');
  });

  it('is a mark inside of a value that is added, cut or compared as a whole', () => {
    const added = listValueChanges(undefined, { user: hide('hunter2') });
    const cut = listValueChanges({}, { long: [hide('hunter2'), 'x'.repeat(500)] }, { maxValueLength: 200 });
    const spent = { left: 0, characters: 1000, until: 0 };
    const whole = listValueChanges(hide('hunter2'), hide('hunter3'), { effort: spent });
    expect(whole.changes).toHaveLength(1);
    expect(listValueChanges(hide('hunter2'), hide('hunter2'), { effort: spent }).changes).toEqual([]);
    expect(JSON.stringify([added, cut, whole])).not.toContain('hunter');
  });

  it('covers a text or number that its path leads into, and a value nested too deep', () => {
    expect(JSON.stringify(hideAt({ a: 'hunter2' }, [['a', 'b', 'c']]))).toBe('{"a":{"sensitive":true}}');
    const path = Array.from({ length: 500 }, () => 'n');
    const deep = path.reduce<object>((inner, name) => ({ [name]: inner }), { password: 'hunter2' });
    expect(JSON.stringify(hideAt(deep as never, [[...path, 'password']]))).not.toContain('hunter2');
  });
});
