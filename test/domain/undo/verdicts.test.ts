import { describe, expect, it, vi } from 'vitest';
import { History } from '#domain/undo/change/history.ts';
import type { Leaf, Leaves } from '#domain/undo/change/leaves.ts';
import { judgeChanges } from '#domain/undo/change/verdicts.ts';

const value = (given: number): Leaf => ({ kind: 'value', value: given });
const object: Leaf = { kind: 'object' };

/** The deployed inputs if the object `map` has these members. */
function withMembers(members: number, valueAt: (at: number) => number): Leaves {
  const leaves = new Map<string, Leaf>([['/variables/map', object]]);
  for (let at = 0; at < members; at += 1) leaves.set(`/variables/map/k${at}`, value(valueAt(at)));
  return leaves;
}

describe('the verdicts of a large change', () => {
  it('read each input once for all changes, and not once for each of 5,000 changes', () => {
    const first = withMembers(50_000, () => 1);
    const second = withMembers(50_000, (at) => (at < 5_000 ? 2 : 1));
    const history = new History([
      { id: 'first', leaves: first, undoes: null },
      { id: 'second', leaves: second, undoes: null },
    ]);
    const walks = vi.spyOn(Map.prototype, 'keys');
    const verdicts = judgeChanges(history, history.find('second')!);
    const walked = walks.mock.calls.length;
    walks.mockRestore();
    expect(verdicts).toHaveLength(5_000);
    expect(verdicts.every(({ verdict }) => verdict === 'clean')).toBe(true);
    expect(walked).toBeLessThan(10);
  });

  it('name the first member that a later run added to an object that the run created', () => {
    const history = new History([
      { id: 'first', leaves: new Map(), undoes: null },
      { id: 'made', leaves: new Map([['/variables/map', object]]), undoes: null },
      { id: 'later', leaves: withMembers(2, () => 1), undoes: null },
    ]);
    expect(judgeChanges(history, history.find('made')!)).toEqual([
      { path: '/variables/map', verdict: 'depended_on', byRun: 'later', dependent: '/variables/map/k0' },
    ]);
  });
});
