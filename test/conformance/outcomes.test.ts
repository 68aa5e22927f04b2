import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Lifecycle } from './lifecycle.ts';
import { OutcomeList } from './list.ts';
import { judge } from './outcomes.ts';

const done: Lifecycle = { stage: 'done', error: null, plan: {}, outputs: {}, state: null, isSettled: true };
const refused = (error: string): Lifecycle => ({ ...done, stage: 'publish', error, plan: null, isSettled: null });
const explanation = {
  parts: ['stage'],
  stage: 'publish',
  error: 'has a state',
  because: 'no part of a version',
} as const;

describe('the outcome of a comparison', () => {
  it('is a difference if the service fails and the tool does not', () => {
    expect(judge(done, refused('has a state'), null)).toMatchObject({ outcome: 'differs' });
  });

  it('is explained only while the service behaves as the explanation says', () => {
    expect(judge(done, refused('main.tf has a state'), explanation)).toMatchObject({ outcome: 'explained' });
    expect(judge(done, refused('the service is busy'), explanation)).toMatchObject({ outcome: 'differs' });
    expect(judge(done, { ...refused('has a state'), stage: 'plan' }, explanation)).toMatchObject({
      outcome: 'differs',
    });
    expect(judge(done, done, explanation)).toMatchObject({ outcome: 'differs' });
  });

  it('is the same if both fail with the same first error, and not if the errors differ', () => {
    const failed = (error: string): Lifecycle => ({ ...done, stage: 'plan', error });
    expect(judge(failed('Cycle: a, b'), failed('Cycle: b, a'), null)).toMatchObject({ outcome: 'same error' });
    expect(judge(failed('Invalid index'), failed('Invalid value'), null)).toMatchObject({ outcome: 'differs' });
    const busy = { ...refused('the service is busy'), refusals: ['the service is busy'] };
    expect(judge(failed(''), busy, null)).toMatchObject({ outcome: 'differs' });
  });
});

describe('a list of outcomes', () => {
  it('is resumed without differences and without an incomplete line', () => {
    const directory = mkdtempSync(join(tmpdir(), 'coordinator-conformance-list-'));
    const path = join(directory, 'list.tsv');
    writeFileSync(path, 'a\topentofu 1\tsame\nb\topentofu 1\tdiffers\twhy\nc\topentofu 1\tsame');
    const list = new OutcomeList(path, true);
    expect(['a', 'b', 'c'].map((name) => list.has(name, 'opentofu 1'))).toEqual([true, false, false]);
    list.add({ name: 'b', tool: 'opentofu 1', outcome: 'same error', details: ['a\nb'] });
    expect(new OutcomeList(path, true).finish()).toEqual([
      { name: 'a', tool: 'opentofu 1', outcome: 'same', details: [] },
      { name: 'b', tool: 'opentofu 1', outcome: 'same error', details: ['a b'] },
    ]);
    rmSync(directory, { recursive: true });
  });
});
