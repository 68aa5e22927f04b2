import { expect, it } from 'vitest';
import { type ChangeAction, completeSummary, summarizePlan } from '#domain/runs/plans/model.ts';

const nothing = summarizePlan([]);
const actions = (...names: ChangeAction[]) => names.map((action) => ({ action }));

it('a summary counts what is forgotten apart from what is destroyed, and a replacement three times', () => {
  const counted = summarizePlan(actions('create', 'update', 'delete', 'replace', 'forget', 'forget', 'read', 'no-op'));
  expect(counted).toEqual({ ...nothing, add: 2, change: 1, destroy: 2, replace: 1, forget: 2 });
});

it('a summary counts what is moved and imported besides what happens to it', () => {
  const moved = { action: 'no-op', previousAddress: 'thing.old' } as const;
  const imported = { action: 'update', imported: { id: 'x' } } as const;
  expect(summarizePlan([moved, imported])).toMatchObject({ add: 0, change: 1, destroy: 0, import: 1, move: 1 });
});

it('a summary that was stored before the service counted more is complete', () => {
  expect(completeSummary({ add: 1, change: 2, destroy: 3 })).toEqual({
    ...nothing,
    add: 1,
    change: 2,
    destroy: 3,
  });
});
