import { describe, expect, it } from 'vitest';
import { type DeployedRun, History } from '#domain/undo/change/history.ts';
import { leavesOf } from '#domain/undo/change/leaves.ts';
import { judgeChanges, judgeUndoable } from '#domain/undo/change/verdicts.ts';

const secrets = { names: new Set<string>(), hash: () => '' };

function run(id: string, a: number, rest: { undoes?: string; environment?: Record<string, string> } = {}): DeployedRun {
  const { undoes = null, environment = {} } = rest;
  return { id, leaves: leavesOf({ version: '1', variables: { a }, environment }, secrets), undoes };
}

function judge(runs: readonly DeployedRun[], id: string) {
  const history = new History(runs);
  return { verdicts: judgeChanges(history, history.find(id)!), isUndoable: judgeUndoable(history) };
}

describe('the run that a verdict recommends to undo first', () => {
  it('is the run whose value an undo restored, and not that undo', () => {
    const runs = [
      run('first', 1),
      run('undone', 2),
      run('second', 3),
      run('third', 4),
      run('undo', 3, { undoes: 'third' }),
    ];
    const { verdicts } = judge(runs, 'undone');
    expect(verdicts).toMatchObject([{ path: '/variables/a', verdict: 'superseded', byRun: 'second' }]);
  });

  it('can be undone if only undoable later runs changed its inputs', () => {
    const { isUndoable } = judge([run('first', 1), run('second', 2), run('third', 3), run('fourth', 4)], 'second');
    expect(['second', 'third', 'fourth'].map(isUndoable)).toEqual([true, true, true]);
  });

  it('cannot be undone if it was the first, or if it changed the environment', () => {
    const changed = run('third', 3, { environment: { REGION: 'eu' } });
    const { isUndoable } = judge([run('first', 1), run('second', 2), changed], 'second');
    expect(['first', 'second', 'third'].map(isUndoable)).toEqual([false, false, false]);
  });
});
