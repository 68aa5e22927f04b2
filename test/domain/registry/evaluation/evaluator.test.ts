import { afterEach, describe, expect, it } from 'vitest';
import { VariableEvaluator } from '#domain/registry/evaluation/evaluator.ts';
import { EvaluationThread } from '#domain/registry/evaluation/thread.ts';
import type { VariableValues } from '#domain/registry/variables/variables.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { makeCostlySchema } from '#test/support/costly-schema.ts';

let evaluator: VariableEvaluator;
afterEach(() => evaluator.close());

const plain = { type: 'object', properties: { size: { type: 'integer', default: 3 } } };
const withPattern = { type: 'object', properties: { name: { type: 'string', pattern: '^[a-z]+$' } } };

/** The longest time for which the main thread did nothing else. */
async function measureBlocking(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  await work().finally(() => clearInterval(timer));
  return longest;
}

const codeOf = (error: unknown) => (error instanceof ServiceError ? error.code : String(error));

describe('an evaluation', () => {
  it('of a cheap schema fills in defaults without a thread', async () => {
    evaluator = new VariableEvaluator();
    const { valid, variables } = await evaluator.validate('ana', plain, {});
    expect({ valid, variables }).toEqual({ valid: true, variables: { size: 3 } });
  });

  it('of a schema with a pattern has the same results in a thread', async () => {
    evaluator = new VariableEvaluator();
    expect((await evaluator.validate('ana', withPattern, { name: 'network' })).valid).toBe(true);
    const { errors } = await evaluator.validate('ana', withPattern, { name: 'Network', nam: 1 });
    expect(errors).toEqual([
      { path: '/nam', message: 'is not a variable of this template; did you mean "name"?' },
      { path: '/name', message: 'must match the pattern ^[a-z]+$' },
    ]);
  });

  it('finds what is wrong with a schema that is to be published', async () => {
    evaluator = new VariableEvaluator();
    expect(await evaluator.check('ana', withPattern)).toEqual([]);
    expect(await evaluator.check('ana', { type: 'array' })).toEqual([
      expect.objectContaining({ path: '/type', message: expect.stringContaining('must be "object"') }),
    ]);
  });

  it('that takes too long is refused without blocking the main thread', async () => {
    evaluator = new VariableEvaluator();
    await evaluator.validate('ana', withPattern, { name: 'warm' });
    const costly = makeCostlySchema();
    let refusal: unknown;
    const blocked = await measureBlocking(async () => {
      refusal = await evaluator.validate('ana', costly, { a: 'x' }).catch(codeOf);
    });
    expect(refusal).toBe('schema_too_costly');
    expect(blocked).toBeLessThan(250);
  });

  it('of one principal does not wait for the costly ones of another', async () => {
    evaluator = new VariableEvaluator();
    await evaluator.validate('ana', withPattern, { name: 'warm' });
    const costly = makeCostlySchema();
    let finished = 0;
    const attacks = Array.from({ length: 3 }, () =>
      evaluator
        .validate('mallory', costly, { a: 'x' })
        .catch(codeOf)
        .finally(() => finished++),
    );
    expect((await evaluator.validate('ana', withPattern, { name: 'network' })).valid).toBe(true);
    expect(finished).toBeLessThanOrEqual(1);
    expect(new Set(await Promise.all(attacks))).toEqual(new Set(['schema_too_costly']));
  });

  it('is refused once the processor time of its principal is used up, and others go on', async () => {
    evaluator = new VariableEvaluator({ milliseconds: 300, windowSeconds: 60 });
    const costly = makeCostlySchema();
    expect(await evaluator.validate('mallory', costly, { a: 'x' }).catch(codeOf)).toBe('schema_too_costly');
    const refusal = await evaluator.validate('mallory', costly, { a: 'x' }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: 'limited', code: 'evaluation_budget_exhausted' });
    expect((refusal as ServiceError).retryAfter).toBeGreaterThanOrEqual(1);
    expect((await evaluator.validate('mallory', plain, {})).valid).toBe(true);
    expect((await evaluator.validate('ana', withPattern, { name: 'network' })).valid).toBe(true);
  });

  it('is refused while too many of its principal wait, with the number of them', async () => {
    evaluator = new VariableEvaluator();
    const all = Array.from({ length: 105 }, () => evaluator.validate('ana', withPattern, { name: 'network' }));
    const results = await Promise.allSettled(all);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) {
      expect(error).toMatchObject({ kind: 'limited', code: 'evaluation_budget_exhausted', retryAfter: 1 });
      expect(error.message).toBe('you have 100 evaluations waiting, the most allowed: wait for them');
    }
  });

  it('that exhausts the memory of its thread is refused, and the next one gets a new thread', async () => {
    evaluator = new VariableEvaluator();
    const thread = new EvaluationThread({ maxOldGenerationSizeMb: 20, maxYoungGenerationSizeMb: 4 });
    const anyOf = Array.from({ length: 40 }, (_, index) => ({ const: `x${index}` }));
    const costly = { type: 'object', properties: { a: { type: 'array', items: { anyOf } } } };
    const task = (digest: string, input: VariableValues) => ({ kind: 'validate', digest, input, secrets: [] }) as const;
    try {
      const attack = await thread.run(task('costly', { a: Array.from({ length: 15_000 }, () => 'y') }), costly);
      expect(attack.outcome).toBe('too_costly');
      expect(await thread.run(task('plain', { size: 4 }), plain)).toMatchObject({ outcome: 'done' });
    } finally {
      await thread.close();
    }
  });
});
