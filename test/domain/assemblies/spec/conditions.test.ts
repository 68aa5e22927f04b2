import { describe, expect, it } from 'vitest';
import { checkCondition, evaluateCondition } from '#domain/assemblies/spec/conditions/conditions.ts';
import { examineCondition } from '#domain/assemblies/spec/conditions/satisfiability.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { Random } from '#test/support/pages/random.ts';

const variables: JsonValue = {
  type: 'object',
  properties: {
    n: { type: 'integer', minimum: 1, maximum: 10 },
    f: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    b: { type: 'boolean' },
    size: { enum: ['small', 'large'] },
    s: { type: 'string' },
  },
};

function verdictOf(text: string): string {
  const report = examineCondition(text, variables);
  return 'problem' in report ? report.problem : report.verdict.kind;
}

describe('a condition that can never be true', () => {
  it.each([
    'false',
    'variables.n > 10',
    'variables.n > 3 && variables.n < 4',
    'variables.n == 3.5',
    'variables.n in [11, 12]',
    'variables.f <= 0',
    'variables.size == "medium"',
    'size(variables.size) > 9',
    'variables.s == "x" && variables.s == "y"',
    '!variables.b && variables.b',
    'nodes.a.status == "failed"',
    'has(variables.s) && !has(variables.s)',
    'variables.s.startsWith("x") && nodes.a.status == "failed"',
    'nodes.a.outputs.n > 5 && nodes.a.outputs.n < 3',
    'variables.b ? variables.n > 10 : variables.n < 1',
    '[1, 2].exists(x, x > 5)',
  ])('%s is recognised', (text) => {
    expect(verdictOf(text)).toBe('never');
  });
});

describe('a condition that may be true', () => {
  it.each([
    'variables.n >= 10',
    'variables.f < 0.0001',
    'variables.f > 0.3 && variables.f < 0.3000001',
    'variables.n + 1 > 5',
    'variables.s.matches("^a")',
    'nodes.a.status == "skipped"',
    'nodes.a.outputs.list[0] == 1',
    'variables.s > "a" && variables.s < "b"',
  ])('%s is not reported as never true', (text) => {
    expect(verdictOf(text)).toBe('possible');
  });
});

describe('a condition that cannot be evaluated', () => {
  it.each(['1 / 0 == 1', 'variables.n > "x"', 'variables.s', '"a" + 1 == "a1"'])('%s is reported', (text) => {
    expect(verdictOf(text)).toBe('broken');
  });
});

describe('the error of an invalid condition', () => {
  it.each([
    ['zz == 1', 'knows "variables" and "nodes", and nothing called "zz"'],
    ['sise(variables.s) == 1', 'has no function "sise"; did you mean "size"?'],
    ['nodes.a-b.status == "succeeded"', 'where a key holds a "-", write nodes["a-b"]'],
    ['nodes[variables.s].status == "x"', 'must name the node'],
    ['1 +', 'is not an expression of CEL'],
    [`${'('.repeat(40)}1${')'.repeat(40)}`, 'must not nest brackets deeper than 32 levels'],
  ])('says how to correct %.40s', (text, message) => {
    expect(checkCondition(text)).toEqual({ problem: expect.stringContaining(message) });
  });

  it('is absent if a loop variable is called like a root name', () => {
    expect(checkCondition('variables.l.exists(nodes, nodes == 1)')).toEqual({
      references: [{ kind: 'variable', name: 'l', path: [] }],
      statuses: [],
    });
  });
});

describe('the evaluation of a condition', () => {
  it('adds integers to decimals, and compares both', () => {
    expect(evaluateCondition('variables.a + 1.5 == 2.5', { variables: { a: 1 }, nodes: {} })).toEqual({ value: true });
  });

  it('names a missing output, and never repeats a value in the problem', () => {
    const nodes = { x: { status: 'skipped', outputs: {} } };
    expect(evaluateCondition('nodes.x.outputs.y', { variables: {}, nodes })).toEqual({
      problem: 'nodes.x.outputs.y has no value',
    });
    const secret = evaluateCondition('variables.m[variables.k] == 1', {
      variables: { m: {}, k: 'hunter2' },
      nodes: {},
    });
    expect(JSON.stringify(secret)).not.toContain('hunter2');
  });

  it('is never true for random values if the check said that the condition can never be true', () => {
    const random = new Random(3);
    const atoms = [
      ...[0, 1, 5, 10, 11].flatMap((n) => ['<', '<=', '==', '!=', '>', '>='].map((op) => `variables.n ${op} ${n}`)),
      ...['small', 'medium'].map((size) => `variables.size == "${size}"`),
      ...['a', 'b'].flatMap((s) => ['==', '<', '>'].map((op) => `variables.s ${op} "${s}"`)),
      'variables.b',
      'nodes.a.status == "skipped"',
    ];
    const write = (depth: number): string => {
      if (depth === 0) return random.pick(atoms);
      if (random.isLikely(0.2)) return `!(${write(depth - 1)})`;
      return `(${write(depth - 1)}) ${random.pick(['&&', '&&', '||'])} (${write(depth - 1)})`;
    };
    for (let round = 0; round < 150; round++) {
      const text = write(random.between(1, 3));
      const claimsNever = verdictOf(text) === 'never';
      const isEverTrue = Array.from({ length: 60 }).some(() => {
        const values = {
          n: random.between(1, 10),
          size: random.pick(['small', 'large']),
          s: random.pick(['', 'a', 'aa', 'b', 'c']),
          b: random.isLikely(0.5),
        };
        const nodes = { a: { status: random.pick(['succeeded', 'skipped']), outputs: {} } };
        const result = evaluateCondition(text, { variables: values, nodes });
        return 'value' in result && result.value;
      });
      expect(claimsNever && isEverTrue ? text : '').toBe('');
    }
  });
});
