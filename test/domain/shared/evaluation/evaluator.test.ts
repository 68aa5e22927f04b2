import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { evaluationWork } from '#domain/evaluation-work.ts';
import { VariableEvaluator } from '#domain/registry/evaluation/variable-evaluator.ts';
import type { VariableValues } from '#domain/registry/variables/variables.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { EvaluationThread } from '#domain/shared/evaluation/thread.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { makeCostlySchema } from '#test/support/costly-schema.ts';

/** On a busy machine, threads of low priority would let these tests wait for minutes. */
const usual = { priority: null };
/** A thread takes a second to start, so tests that need no evaluator of their own share one, each with its own people. */
const shared = new Evaluator(undefined, usual);
let evaluator: Evaluator;
beforeEach(() => {
  evaluator = shared;
});
afterEach(async () => {
  if (evaluator !== shared) await evaluator.close();
});
afterAll(() => shared.close());

const as = (person: string, owner = person) => new VariableEvaluator(evaluator, { person, owner });

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
  it('a cheap schema is evaluated on the main thread, which fills in defaults', async () => {
    const { valid, variables } = await as('ana').validate(plain, {});
    expect({ valid, variables }).toEqual({ valid: true, variables: { size: 3 } });
  });

  it('a schema with a pattern is evaluated by a thread, with the same results', async () => {
    expect((await as('ana').validate(withPattern, { name: 'network' })).valid).toBe(true);
    const { errors } = await as('ana').validate(withPattern, { name: 'Network', nam: 1 });
    expect(errors).toEqual([
      { path: '/nam', message: 'is not a declared variable; did you mean "name"?' },
      { path: '/name', message: 'must match the pattern ^[a-z]+$' },
    ]);
  });

  it('a check finds what is wrong with a schema that is to be published', async () => {
    expect(await as('ana').check(withPattern)).toEqual([]);
    expect(await as('ana').check({ type: 'array' })).toEqual([
      expect.objectContaining({ path: '/type', message: expect.stringContaining('must be "object"') }),
    ]);
  });

  it('an evaluation that takes too long is refused without blocking the main thread', async () => {
    await as('tom').validate(withPattern, { name: 'warm' });
    const costly = makeCostlySchema();
    let refusal: unknown;
    const began = performance.now();
    const blocked = await measureBlocking(async () => {
      refusal = await as('tom').validate(costly, { a: 'x' }).catch(codeOf);
    });
    expect(refusal).toBe('schema_too_costly');
    expect(blocked).toBeLessThan(Math.max(250, (performance.now() - began) / 3));
  });

  it('an evaluation of one person does not wait for the costly evaluations of another', async () => {
    await as('ana').validate(withPattern, { name: 'warm' });
    const costly = makeCostlySchema();
    let finished = 0;
    const attacks = Array.from({ length: 2 }, () =>
      as('mallory')
        .validate(costly, { a: 'x' })
        .catch(codeOf)
        .finally(() => finished++),
    );
    expect((await as('ana').validate(withPattern, { name: 'network' })).valid).toBe(true);
    expect(finished).toBeLessThanOrEqual(1);
    expect(new Set(await Promise.all(attacks))).toEqual(new Set(['schema_too_costly']));
  });

  it('sixteen service accounts of one person share one evaluation at a time and one budget', async () => {
    evaluator = new Evaluator({ milliseconds: 100, sharesOfOwner: 6, windowSeconds: 6_000 }, usual);
    const costly = makeCostlySchema();
    let finished = 0;
    const attacks = Array.from({ length: 16 }, (_, index) => {
      const account = { id: `account ${index}`, responsibleUserId: 'mallory', organizations: {} };
      return new VariableEvaluator(evaluator, limitSubjectOfCaller(account))
        .validate(costly, { a: 'x' })
        .catch(codeOf)
        .finally(() => finished++);
    });
    expect((await as('ana').validate(withPattern, { name: 'network' })).valid).toBe(true);
    expect(finished).toBeLessThanOrEqual(1);
    const refusals = Array.from({ length: 15 }, () => 'evaluation_budget_exhausted');
    expect(await Promise.all(attacks)).toEqual(['schema_too_costly', ...refusals]);
  });

  it("an evaluation is refused once its person's processor time is used up, and other people are not affected", async () => {
    evaluator = new Evaluator({ milliseconds: 300, sharesOfOwner: 6, windowSeconds: 6_000 }, usual);
    const costly = makeCostlySchema();
    expect(await as('mallory').validate(costly, { a: 'x' }).catch(codeOf)).toBe('schema_too_costly');
    const refusal = await as('mallory')
      .validate(costly, { a: 'x' })
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: 'limited', code: 'evaluation_budget_exhausted' });
    expect((refusal as ServiceError).retryAfter).toBeGreaterThanOrEqual(1);
    expect((await as('mallory').validate(plain, {})).valid).toBe(true);
    expect((await as('ana').validate(withPattern, { name: 'network' })).valid).toBe(true);
  });

  it('an evaluation is refused while its person has 100 evaluations waiting, and the error says so', async () => {
    const all = Array.from({ length: 105 }, () => as('bea').validate(withPattern, { name: 'network' }));
    const results = await Promise.allSettled(all);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) {
      expect(error).toMatchObject({ kind: 'limited', code: 'evaluation_budget_exhausted', retryAfter: 1 });
      expect(error.message).toBe('you have 100 waiting evaluations, and may not have more: wait until one has ended');
    }
  });

  it('many inputs of one schema are evaluated in few tasks, and their results keep the order', async () => {
    const run = vi.spyOn(evaluator, 'run');
    const names = Array.from({ length: 500 }, (_, index) => (index % 100 === 7 ? `${index}` : 'network'));
    const results = await as('ana').validateEach(
      withPattern,
      names.map((name) => ({ name })),
    );
    expect(results.map(({ valid }) => valid)).toEqual(names.map((name) => name === 'network'));
    expect(run.mock.calls.length).toBeLessThan(20);
  });

  it('inputs that remain when a task has used its processor time are evaluated in further tasks', async () => {
    vi.spyOn(process, 'threadCpuUsage').mockReturnValue({ user: 300_000, system: 0 });
    const run = vi
      .spyOn(evaluator, 'run')
      .mockImplementation(async (_subject, work, input) => work.answer(input, undefined as never));
    const results = await as('ana').validateEach(withPattern, [{ name: 'a' }, { name: '1' }, { name: 'c' }]);
    expect(results.map(({ valid }) => valid)).toEqual([true, false, true]);
    expect(run).toHaveBeenCalledTimes(3);
  });

  it('all kinds of work have different names', () => {
    const kinds = evaluationWork.map(({ kind }) => kind);
    expect(kinds).toEqual([...new Set(kinds)]);
  });

  it('a thread that gets no task for a while ends, and the next task starts it again', async () => {
    const ends = vi.spyOn(Worker.prototype, 'terminate');
    const thread = new EvaluationThread(null, undefined, undefined, 50);
    const task = { kind: 'no such work', input: null, remembered: null };
    expect((await thread.run(task, null)).outcome).toBe('failed');
    await expect.poll(() => ends.mock.calls.length).toBe(1);
    expect((await thread.run(task, null)).outcome).toBe('failed');
    await expect.poll(() => ends.mock.calls.length).toBe(2);
  });

  it('an evaluation that exhausts the memory of its thread is refused, and the next one gets a new thread', async () => {
    const thread = new EvaluationThread(null, { maxOldGenerationSizeMb: 20, maxYoungGenerationSizeMb: 4 });
    const anyOf = Array.from({ length: 40 }, (_, index) => ({ const: `x${index}` }));
    const costly = { type: 'object', properties: { a: { type: 'array', items: { anyOf } } } };
    const task = (digest: string, values: VariableValues) => ({
      kind: 'validate_variables',
      input: { values, secrets: [] },
      remembered: { member: 'schema', digest },
    });
    try {
      const attack = await thread.run(task('costly', { a: Array.from({ length: 15_000 }, () => 'y') }), costly);
      expect(attack.outcome).toBe('too_costly');
      expect(await thread.run(task('plain', { size: 4 }), plain)).toMatchObject({ outcome: 'done' });
    } finally {
      await thread.close();
    }
  });
});
