import { expect, it } from 'vitest';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { checkSchema } from '#domain/registry/variables/check.ts';
import { runWithin, TimeLimitExceeded } from '#domain/shared/evaluation/time-limit.ts';

const cell = new Int32Array(new SharedArrayBuffer(4));

it('work that exceeds its time limit is stopped', () => {
  expect(() =>
    runWithin(20, () => {
      for (;;);
    }),
  ).toThrow(TimeLimitExceeded);
});

it('work that only waits for the processor is not stopped', () => {
  expect(runWithin(20, () => Atomics.wait(cell, 0, 0, 100))).toBe('timed-out');
});

it('work that gets less processor time at a second try than at the first is not stopped', () => {
  let isFirst = true;
  // Asking for the time takes time of the system, too, so both count.
  const used = () => process.threadCpuUsage().user + process.threadCpuUsage().system;
  const work = () => {
    const until = used() + (isFirst ? 50_000 : 0);
    isFirst = false;
    while (used() < until);
    return Atomics.wait(cell, 0, 0, 1_000);
  };
  expect(runWithin(200, work)).toBe('timed-out');
});

it('an error that the work throws is passed on', () => {
  expect(() => runWithin(20, () => JSON.parse('{'))).toThrow(SyntaxError);
});

it('a published spec is read although its schema breaks a newer rule', () => {
  const spec = {
    variables: { type: 'object', properties: { size: { type: 'integer', formerly: 'allowed' } } },
    executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] },
  };
  expect(checkSchema(spec.variables)).toHaveLength(1);
  expect(TemplateSpec.parse(spec).variables).toEqual(spec.variables);
});
