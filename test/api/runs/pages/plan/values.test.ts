import { describe, expect, it } from 'vitest';
import { findDifferences } from '#api/runs/pages/plan/differences.ts';
import type { PlannedChange } from '#api/runs/pages/plan/planned-change.ts';
import { compareLines } from '#api/web/components/value-change/lines.ts';
import { printValue, showUnseen } from '#api/web/components/value-change/print.ts';
import type { Effort } from '#domain/shared/values/comparison/compare.ts';
import { cutAround } from '#domain/shared/values/comparison/cut.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

const effort = (left = 1000): Effort => ({ left, characters: 2_000_000, until: performance.now() + 10_000 });
/** A change of which the tool reports only the values. */
const unsaid = {
  position: 1,
  kind: 'change',
  address: 'a',
  type: null,
  action: 'update',
  previous_address: null,
  imported: null,
  action_reason: null,
  replace_paths: null,
  after_unknown: null,
  sensitive: null,
} as const;
const secret = { sensitive: true };
const unknown = { unknown: true };

function compareSides(before: JsonValue, after: JsonValue, more: Partial<PlannedChange> = {}, left?: number) {
  const change: PlannedChange = { ...unsaid, before, after, ...more };
  const { differences, unchanged } = findDifferences(change, effort(left));
  return {
    differences: differences.map(({ label, before: from, after: to, note }) => [
      label,
      from,
      to,
      ...(note ? [note] : []),
    ]),
    unchanged: unchanged.map(({ label }) => label),
    forcing: differences.filter(({ forcesReplacement }) => forcesReplacement).map(({ label }) => label),
  };
}

describe('the values of a planned change', () => {
  it('are compared by their full paths, and unchanged values are listed as a whole', () => {
    const before = { size: 1, tags: { Name: 'a', owner: 'x' }, same: { deep: [1] }, gone: null };
    const after = { size: 2, tags: { Name: 'b', owner: 'x', 'with space': true }, same: { deep: [1] } };
    expect(compareSides(before, after)).toMatchObject({
      differences: [
        ['size', 1, 2],
        ['tags.Name', 'a', 'b'],
        ['tags["with space"]', undefined, true],
      ],
      unchanged: ['same', 'tags.owner'],
    });
  });

  it('the values of a resource that a plan adds or destroys include all values that are set', () => {
    expect(compareSides(null, { id: unknown, name: 'x', none: null }).differences).toEqual([
      ['id', undefined, unknown],
      ['name', undefined, 'x'],
    ]);
    expect(compareSides({ name: 'x' }, null).differences).toEqual([['name', 'x', undefined]]);
  });

  it('planned values that are JSON texts are compared inside the texts', () => {
    const policy = (effect: string) => JSON.stringify({ Statement: [{ Sid: 'read', Effect: effect, Action: '*' }] });
    expect(compareSides({ policy: policy('Allow') }, { policy: policy('Deny') })).toMatchObject({
      differences: [['policy (JSON) Statement[Sid="read"].Effect', 'Allow', 'Deny']],
      unchanged: ['policy (JSON) Statement[Sid="read"].Action', 'policy (JSON) Statement[Sid="read"].Sid'],
    });
    const [difference] = compareSides({ policy: '{"a":1}' }, { policy: '{ "a": 1 }' }).differences;
    expect(difference).toEqual(['policy', '{"a":1}', '{ "a": 1 }', 'Only the format of the JSON changes.']);
  });

  it('planned values of lists are matched by the names of their items, so that a new first item changes no other', () => {
    const web = { name: 'web', port: 80 };
    const api = { name: 'api', port: 81 };
    expect(compareSides({ rule: [web] }, { rule: [api, { ...web, port: 8080 }] })).toMatchObject({
      differences: [
        ['rule[name="api"]', undefined, api],
        ['rule[name="web"].port', 80, 8080],
      ],
      unchanged: ['rule[name="web"].name'],
    });
  });

  it('planned values of lists without names are matched by content, then by position', () => {
    expect(compareSides({ zones: ['a', 'b'] }, { zones: ['c', 'a', 'b'] }).differences).toEqual([
      ['zones[0]', undefined, 'c'],
    ]);
    expect(compareSides({ zones: ['a', 'b'] }, { zones: ['a', 'c'] }).differences).toEqual([
      ['zones[1]', 'b', undefined],
      ['zones[1]', undefined, 'c'],
    ]);
    expect(compareSides({ list: [{ a: 1 }] }, { list: [{ a: 2 }] }).differences).toEqual([['list[0].a', 1, 2]]);
  });

  it('planned values of a list that only has another order are described so', () => {
    expect(compareSides({ zones: ['a', 'b'] }, { zones: ['b', 'a'] }).differences).toEqual([
      ['zones', ['a', 'b'], ['b', 'a'], 'The order of the items changes.'],
    ]);
  });

  it('planned values that are secret are shown as changed, unchanged or unknown, as the plan says', () => {
    const sides = [{ password: secret }, { password: secret }] as const;
    const said = (changed: boolean) => ({ sensitive: [{ path: ['password'], changed }] });
    expect(compareSides(...sides, said(true)).differences).toEqual([
      ['password', secret, secret, 'sensitive, changed'],
    ]);
    expect(compareSides(...sides, said(false))).toMatchObject({ differences: [], unchanged: ['password'] });
    expect(compareSides(...sides).differences).toEqual([
      ['password', secret, secret, 'sensitive: it is not known whether it changes'],
    ]);
    expect(compareSides({ password: 'x' }, { password: secret }, said(false)).differences).toEqual([
      ['password', 'x', secret, 'only sensitivity changed'],
    ]);
  });

  it('planned values that force a replacement are marked, with everything inside them', () => {
    const more: Partial<PlannedChange> = { kind: 'replace', replace_paths: [['network', 0, 'zone'], ['name']] };
    const before = { name: 'a', network: [{ zone: 'x', size: 1 }] };
    const after = { name: 'b', network: [{ zone: 'y', size: 2 }] };
    expect(compareSides(before, after, more).forcing).toEqual(['name', 'network[0].zone']);
  });

  it('are compared as a whole once the budget is used up or if they are nested too deep', () => {
    const before = { a: { b: { c: 1 } } };
    const after = { a: { b: { c: 2 } } };
    expect(compareSides(before, after, {}, 2).differences).toEqual([['a', before.a, after.a]]);
    const nested = (value: JsonValue) =>
      Array.from({ length: 500 }).reduce<JsonValue>((inner) => ({ n: inner }), value);
    expect(compareSides(nested(1), nested(2)).differences).toHaveLength(1);
    const text = (value: number) => ({ text: `${'['.repeat(50_000)}${value}${']'.repeat(50_000)}` });
    expect(compareSides(text(1), text(2)).differences).toHaveLength(1);
  });

  it('may have names such as constructor, which every object inherits', () => {
    const before = JSON.parse('{"__proto__": 1, "constructor": 1}') as JsonValue;
    const after = JSON.parse('{"__proto__": 2, "toString": 1}') as JsonValue;
    expect(compareSides(before, after).differences).toEqual([
      ['__proto__', 1, 2],
      ['constructor', 1, undefined],
      ['toString', undefined, 1],
    ]);
  });
});

describe('a printed value', () => {
  it('says what is not shown, and is cut if it is too long', () => {
    expect(printValue({ a: [1, secret], b: unknown, c: {} }, 1000)).toEqual({
      text: '{\n  "a": [\n    1,\n    (sensitive)\n  ],\n  "b": (known after apply),\n  "c": {}\n}',
      isCut: false,
    });
    expect(printValue('x'.repeat(5000), 10)).toEqual({ text: `"${'x'.repeat(9)}`, isCut: true });
    expect(printValue({ lines: 'x' }, 100).text).toBe('{\n  "lines": "x"\n}');
  });

  it('shows invisible characters as escapes', () => {
    expect(showUnseen('a\u202eb\u200bc\u0000\td\ne')).toBe('a\\u202eb\\u200bc\\u0000\td\ne');
  });
});

describe('long texts', () => {
  it('are cut around their difference, never before it', () => {
    const { before, after, isCut } = cutAround(`${'x'.repeat(1000)}a`, `${'x'.repeat(1000)}b`, 100);
    expect([before, after, isCut]).toEqual([
      `… 960 equal characters … ${'x'.repeat(40)}a`,
      `… 960 equal characters … ${'x'.repeat(40)}b`,
      true,
    ]);
  });

  it('long texts with lines are compared by line, and say how many lines are unchanged', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const parts = compareLines(lines.join('\n'), lines.with(15, 'other').join('\n'));
    expect(parts?.map(({ kind, lines: each }) => [kind, each.length])).toEqual([
      ['hidden', 12],
      ['same', 3],
      ['removed', 1],
      ['added', 1],
      ['same', 3],
      ['hidden', 11],
    ]);
  });

  it('long texts beyond a limit are not compared by line', () => {
    expect(compareLines('a\n'.repeat(300_000), 'b\n'.repeat(300_000))).toBeNull();
  });
});
