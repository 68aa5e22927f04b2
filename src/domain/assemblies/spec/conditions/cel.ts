import { type CelFunc, type CelInput, CelScalar, celEnv, celFunc, type parse } from '@bufbuild/cel';
import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** The dialect of CEL for conditions: the standard one, with arithmetic between integers and other numbers. */

type Parsed = ReturnType<typeof parse>;
export type Expression = Parsed['expr'];

/**
 * Functions for arithmetic between `int` and `double`. JSON does not distinguish 1 from 1.0, so an author cannot know which type CEL uses
 * for a number. Standard CEL can compare the two types but not add them.
 */
function mixed(name: string, calculate: (a: number, b: number) => number): CelFunc[] {
  const { INT, DOUBLE } = CelScalar;
  return [
    celFunc(name, [INT, DOUBLE], DOUBLE, (a, b) => calculate(Number(a), b)),
    celFunc(name, [DOUBLE, INT], DOUBLE, (a, b) => calculate(a, Number(b))),
  ];
}

export const environment = celEnv({
  funcs: [
    ...mixed('_+_', (a, b) => a + b),
    ...mixed('_-_', (a, b) => a - b),
    ...mixed('_*_', (a, b) => a * b),
    ...mixed('_/_', (a, b) => a / b),
  ],
});

/** The functions that the planner handles itself, besides those of the environment. */
const builtIn = new Set(['_&&_', '_||_', '_?_:_', '_[_]', '@not_strictly_false']);

export function isFunction(name: string): boolean {
  return builtIn.has(name) || environment.funcs.find(name) !== undefined;
}

/** The names of the functions that an author can call by name. */
export function functionNames(): string[] {
  const names = new Set([...environment.funcs].map(({ name }) => name));
  return ['has', 'all', 'exists', 'exists_one', 'map', 'filter', ...names].filter((name) => /^[a-z]/i.test(name));
}

/** Names of types, for `type(x) == int`. */
export const typeNames: ReadonlySet<string> = new Set(
  'int uint double bool string bytes list map null_type type'.split(' '),
);

/** Converts JSON to CEL: integers become `int`, all other numbers `double`. */
export function toCel(value: JsonValue): CelInput {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (value instanceof Decimal) throw new Error('CEL cannot represent a number with this many digits');
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, toCel(member)]));
}

/** The direct parts of an expression. */
export function partsOf({ exprKind }: Expression): Expression[] {
  switch (exprKind.case) {
    case 'selectExpr':
      return present(exprKind.value.operand);
    case 'callExpr':
      return present(exprKind.value.target, ...exprKind.value.args);
    case 'listExpr':
      return exprKind.value.elements;
    case 'structExpr':
      return exprKind.value.entries.flatMap(({ keyKind, value }) =>
        present(keyKind.case === 'mapKey' ? keyKind.value : undefined, value),
      );
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return present(iterRange, accuInit, loopCondition, loopStep, result);
    }
    default:
      return [];
  }
}

function present(...expressions: (Expression | undefined)[]): Expression[] {
  return expressions.filter((expression) => expression !== undefined);
}

/** A name and the constant steps after it: `nodes["a"].status` → nodes, [a, status]. */
export interface Access {
  readonly root: string;
  readonly steps: readonly (string | number)[];
}

/** The access that an expression consists of; null if it is another expression, or uses `has`. */
export function accessOf({ exprKind }: Expression): Access | null {
  if (exprKind.case === 'identExpr') return { root: exprKind.value.name, steps: [] };
  if (exprKind.case === 'selectExpr') {
    const { operand, field, testOnly } = exprKind.value;
    const inner = operand && !testOnly ? accessOf(operand) : null;
    return inner && { root: inner.root, steps: [...inner.steps, field] };
  }
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_[_]') return null;
  const [container, position] = exprKind.value.args;
  const step = position && constantOf(position);
  const inner = container && step !== undefined ? accessOf(container) : null;
  if (!inner || (typeof step !== 'string' && typeof step !== 'bigint')) return null;
  return { root: inner.root, steps: [...inner.steps, typeof step === 'bigint' ? Number(step) : step] };
}

export type Constant = string | number | bigint | boolean | null;

/** The value of a literal; undefined if the expression is not a literal. A negative number is also a literal. */
export function constantOf({ exprKind }: Expression): Constant | undefined {
  if (exprKind.case !== 'constExpr') return undefined;
  const { constantKind } = exprKind.value;
  switch (constantKind.case) {
    case 'nullValue':
      return null;
    case 'stringValue':
    case 'boolValue':
    case 'int64Value':
    case 'uint64Value':
    case 'doubleValue':
      return constantKind.value;
    default:
      return undefined;
  }
}
