import { describe, expect, it } from 'vitest';
import { renderOneChange } from '#api/runs/pages/plan/plan-list.ts';
import { compareContents } from '#domain/instances/state/state-comparison.ts';
import { type Effort, newEffort } from '#domain/shared/values/comparison/compare.ts';
import { listValueChanges } from '#domain/shared/values/comparison/value-changes.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

const unlimited = () => newEffort(150_000, 60_000);

/** The number of parts that a comparison finds. Expects that it exceeded its budget by at most one read of all values. */
function partsOf(before: JsonValue, after: JsonValue, effort: Effort = unlimited()): number {
  const { changes, unchanged } = listValueChanges({ x: before }, { x: after }, { effort });
  return changes.length + unchanged.length;
}

describe('a comparison of values that somebody made to be costly', () => {
  it('compares a list of very many items as a whole', () => {
    const list = Array.from({ length: 200_000 }, (_, index) => index);
    expect(partsOf(list, [...list, -1])).toBe(1);
    expect(partsOf(list.slice(0, 1000), [...list.slice(0, 1000), -1])).toBe(1001);
  });

  it('tests the same values for equality once, and not at each of many levels', () => {
    const nest = (value: JsonValue): JsonValue =>
      Array.from({ length: 50 }).reduce<JsonValue>((inner) => ({ a: inner }), value);
    const list = Array.from({ length: 100_000 }, (_, index) => index);
    const effort = unlimited();
    expect(partsOf(nest(list), nest([...list, -1]), effort)).toBe(1);
    expect(effort.left).toBeGreaterThan(-10_000);
  });

  it('parses no more JSON than its budget allows', () => {
    const texts = (last: number) =>
      Array.from({ length: 200 }, (_, index) => `[${'1,'.repeat(90_000)}${index + last}]`);
    const effort = unlimited();
    const members = (last: number) => Object.fromEntries(texts(last).map((text, index) => [`k${index}`, text]));
    const startedAt = performance.now();
    expect(partsOf(members(0), members(1000), effort)).toBeGreaterThanOrEqual(200);
    expect(effort.left).toBeLessThanOrEqual(0);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('a costly comparison of two states of millions of values ends soon, and says that they differ', () => {
    const state = (value: number) => ({
      content: Buffer.from(
        `{"resources":[{"mode":"managed","type":"t","name":"n","instances":[{"attributes":{"x":[${`${value},`.repeat(1_500_000)}${value}]}}]}]}`,
      ),
      maskedAddresses: {},
    });
    const startedAt = performance.now();
    const [change] = compareContents(state(0), state(1)).changes;
    // Where the time is up, the resource is compared as a whole.
    expect(['', 'x']).toContain(change?.attributes[0]?.label);
    expect(change?.attributes).toHaveLength(1);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('returns no more text than a page can show, even if names are very long', () => {
    const longName = 'n'.repeat(500_000);
    const state = (value: number) => {
      const attributes = {
        [longName]: Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`k${index}`, value])),
      };
      const resource = { mode: 'managed', type: 't', name: 'n', instances: [{ attributes }] };
      return { content: Buffer.from(JSON.stringify({ resources: [resource] })), maskedAddresses: {} };
    };
    const [change] = compareContents(state(0), state(1)).changes;
    expect((change?.attributes.length ?? 0) + (change?.omittedAttributes ?? 0)).toBe(150);
    expect(JSON.stringify(change).length).toBeLessThan(5_000_000);
  });

  it('shows one change of a plan on a page of a few megabytes, even if it changes many long values', () => {
    const values = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`k${index}`, `${'line\n'.repeat(20_000)}${index}`]),
    );
    const change = {
      position: 1,
      kind: 'add',
      address: 'a.b',
      type: 'a',
      action: 'create',
      previous_address: null,
      imported: null,
      action_reason: null,
      replace_paths: null,
      after_unknown: null,
      sensitive: null,
      before: null,
      after: values,
    } as const;
    const run = { id: crypto.randomUUID(), operation: 'apply' } as Parameters<typeof renderOneChange>[0];
    expect(String(renderOneChange(run, change, 1)).length).toBeLessThan(4_000_000);
  });
});
