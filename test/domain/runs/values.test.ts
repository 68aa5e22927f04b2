import { describe, expect, it } from 'vitest';
import { dataSourceOf, stateRead } from '#domain/runs/references/model.ts';
import { logPhaseOf } from '#domain/shared/vocabulary/runs.ts';

describe('the log of an attempt', () => {
  it.each([
    ['apply', 'planning', 'plan'],
    ['apply', 'applying', 'apply'],
    ['plan', 'planning', 'plan'],
    ['scan', 'planning', 'detect'],
  ] as const)('has the lines of a run that does %s while it is %s in the phase %s', (operation, phase, expected) => {
    expect(logPhaseOf(operation, phase)).toBe(expected);
  });
});

describe('a read of another instance', () => {
  it('gives a data source its state where it reads all outputs', () => {
    expect(dataSourceOf(stateRead('network'))).toBe('network');
  });

  it('gives a variable one output, even a variable whose name begins as that of a data source does', () => {
    expect(dataSourceOf({ ...stateRead('network'), output: 'id' })).toBeNull();
    expect(dataSourceOf({ ...stateRead('network'), path: '/a' })).toBeNull();
  });
});
