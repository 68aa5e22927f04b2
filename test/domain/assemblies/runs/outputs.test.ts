import { expect, it } from 'vitest';
import type { NodeStatus } from '#domain/assemblies/model.ts';
import { mayReadOutputs } from '#domain/assemblies/runs/nodes/outputs.ts';

it.each([
  ['apply', 'succeeded', true],
  ['apply', 'pending', false],
  ['plan', 'pending', true],
  ['plan', 'skipped', false],
] as const)('an assembly run that does %s reads outputs of a node that is %s: %s', (operation, status, expected) => {
  expect(mayReadOutputs({ operation }, { status: status satisfies NodeStatus, reason: null })).toBe(expected);
});
