import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import { DraftUnreadable } from '#domain/assemblies/spec/text/parse.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { Evaluator } from '#domain/shared/evaluation/evaluator.ts';

const evaluator = new Evaluator({ milliseconds: 60_000, sharesOfOwner: 6, windowSeconds: 60 });
const author = new AssemblyEvaluator(evaluator, { person: 'ana', owner: 'ana' });
// The threads start from code in memory, as they do in a process that has dropped its privileges.
beforeAll(() => evaluator.keepCode(), 60_000);
afterAll(() => evaluator.close());

describe('an evaluation thread for assemblies', () => {
  it('reads a draft with the lines of its members', async () => {
    const { value, lineOf } = await author.parseDraft('nodes:\n  a:\n    template: x\n');
    expect(value).toEqual({ nodes: { a: { template: 'x' } } });
    expect(['/nodes/a/template', '/nodes/a/variables/x', ''].map(lineOf)).toEqual([3, 2, 1]);
    expect((await author.parseDraft('{"nodes": {}}')).value).toEqual({ nodes: {} });
  });

  it('reports the place at which a draft cannot be read', async () => {
    const failure = await author.parseDraft('a: 1\na: 2').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DraftUnreadable);
    expect(failure).toMatchObject({ line: 2, message: expect.stringContaining('stands twice') });
  });

  it('examines conditions, evaluates one with a loop, compares specs and draws a graph', async () => {
    const [report] = await author.examineConditions(['nodes.a.status == "failed"'], { type: 'object' });
    expect(report).toMatchObject({ statuses: ['a'], verdict: { kind: 'never' } });
    const facts = { variables: { list: [1, 2] }, nodes: {} };
    expect(await author.evaluateCondition('variables.list.exists(x, x == 2)', facts)).toEqual({ value: true });
    expect((await author.diff({ concurrency: 1 }, { concurrency: 2 })).fields).toHaveLength(1);
    const drawing = await author.drawGraph({
      nodes: [
        { key: 'a', label: 'a' },
        { key: 'b', label: 'b' },
      ],
      edges: [['a', 'b']],
    });
    expect(drawing.edges).toEqual([{ from: 'a', to: 'b', path: expect.stringMatching(/^M[\d.]+ [\d.]+C/) }]);
  });

  it('refuses a condition whose nested loops take too many steps', async () => {
    const list = Array.from({ length: 200 }, (_, index) => index);
    const loops = 'abcde'.split('').reduce((inner, name) => `variables.list.all(${name}, ${inner})`, 'true');
    const failure = await author
      .evaluateCondition(loops, { variables: { list }, nodes: {} })
      .catch((error: unknown) => error);
    expect(failure instanceof ServiceError && failure.code).toBe('assembly_too_costly');
  });
});
