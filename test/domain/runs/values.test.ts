import { describe, expect, it } from 'vitest';
import { dataSourceOf, stateRead } from '#domain/runs/references/model.ts';
import { logPhaseOf } from '#domain/shared/vocabulary/runs.ts';

describe('the log of an attempt', () => {
  it.each([
    ['apply', 'planning', 'plan'],
    ['apply', 'applying', 'apply'],
    ['plan', 'planning', 'plan'],
    ['scan', 'planning', 'detect'],
  ] as const)('the log of a run that does %s while it is %s is of the phase %s', (operation, phase, expected) => {
    expect(logPhaseOf(operation, phase)).toBe(expected);
  });
});

describe('a read of another instance', () => {
  it('belongs to a data source if it reads all outputs', () => {
    expect(dataSourceOf(stateRead('network'))).toBe('network');
  });

  it('belongs to a variable if it reads one output or has a path, whatever the name of the variable', () => {
    expect(dataSourceOf({ ...stateRead('network'), output: 'id' })).toBeNull();
    expect(dataSourceOf({ ...stateRead('network'), path: '/a' })).toBeNull();
  });
});
