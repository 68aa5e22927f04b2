import { expect, it } from 'vitest';
import { PublishedSpec, TemplateSpec } from '#domain/registry/spec.ts';
import { runWithin, TookTooLong } from '#domain/registry/variables/time-limit.ts';

const cell = new Int32Array(new SharedArrayBuffer(4));

it('work that takes too long is stopped', () => {
  expect(() =>
    runWithin(20, () => {
      for (;;);
    }),
  ).toThrow(TookTooLong);
});

it('work that waits for a busy machine is not taken for work that takes too long', () => {
  expect(runWithin(20, () => Atomics.wait(cell, 0, 0, 100))).toBe('timed-out');
});

it('what work throws is thrown', () => {
  expect(() => runWithin(20, () => JSON.parse('{'))).toThrow(SyntaxError);
});

it('a spec that was published is not judged again', () => {
  const spec = {
    variables: { type: 'object', properties: { size: { type: 'integer', formerly: 'allowed' } } },
    executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] },
  };
  expect(TemplateSpec.safeParse(spec).success).toBe(false);
  expect(PublishedSpec.parse(spec).variables).toEqual(spec.variables);
});
