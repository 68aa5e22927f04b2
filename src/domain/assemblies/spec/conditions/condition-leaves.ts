import { type Access, accessOf, type Constant, constantOf, type Expression, partsOf } from './cel.ts';

/** A condition as a formula over leaves: parts that are true or false and contain no `&&`, `||`, `!` or `? :` themselves. */
export type Formula =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly [Formula, Formula] }
  | { readonly kind: 'not'; readonly part: Formula }
  | { readonly kind: 'choice'; readonly test: Formula; readonly yes: Formula; readonly no: Formula }
  | { readonly kind: 'leaf'; readonly leaf: Leaf };

export interface Leaf {
  /** Equal parts have equal texts, and so the same value. */
  readonly text: string;
  readonly expression: Expression;
  /** The variables, outputs and statuses that it reads, by `nameOf`. */
  readonly accesses: ReadonlyMap<string, Access>;
  /** The literals with which the leaf compares the only value that it reads; null if it does anything else. */
  readonly literals: readonly Constant[] | null;
  /** Whether its value is known once the values of its accesses are. */
  readonly isPlain: boolean;
}

export function toFormula(expression: Expression): Formula {
  const { exprKind } = expression;
  if (exprKind.case === 'callExpr') {
    const [first, second, third] = exprKind.value.args;
    const name = exprKind.value.function;
    if (name === '!_' && first) return { kind: 'not', part: toFormula(first) };
    if ((name === '_&&_' || name === '_||_') && first && second) {
      return { kind: name === '_&&_' ? 'and' : 'or', parts: [toFormula(first), toFormula(second)] };
    }
    if (name === '_?_:_' && first && second && third) {
      return { kind: 'choice', test: toFormula(first), yes: toFormula(second), no: toFormula(third) };
    }
  }
  return { kind: 'leaf', leaf: toLeaf(expression) };
}

export function nameOf({ root, steps }: Access): string {
  return JSON.stringify([root, ...steps]);
}

/** The leaves of a formula, without repetitions. */
export function leavesOf(formula: Formula): Leaf[] {
  const leaves = new Map<string, Leaf>();
  const collect = (part: Formula): void => {
    if (part.kind === 'leaf') leaves.set(part.leaf.text, part.leaf);
    else if (part.kind === 'not') collect(part.part);
    else for (const inner of part.kind === 'choice' ? [part.test, part.yes, part.no] : part.parts) collect(inner);
  };
  collect(formula);
  return [...leaves.values()];
}

function toLeaf(expression: Expression): Leaf {
  const accesses = new Map<string, Access>();
  const isSimple = collectAccesses(expression, accesses);
  const read = [...accesses.values()];
  // Samples are put into objects, so they cannot represent items of lists.
  const hasPositions = read.some(({ steps }) => steps.some((step) => typeof step === 'number'));
  const isPlain = isSimple && !hasPositions && !holdsOneAnother(read);
  return { text: textOf(expression), expression, accesses, literals: comparedWith(expression), isPlain };
}

/**
 * Collects the accesses of an expression; returns whether it reads nothing in any other way. A loop declares names of its own, and `has`
 * reads whether a value exists.
 */
function collectAccesses(expression: Expression, accesses: Map<string, Access>): boolean {
  const access = accessOf(expression);
  if (access) {
    if (access.root === 'variables' || access.root === 'nodes') accesses.set(nameOf(access), access);
    return true;
  }
  const { exprKind } = expression;
  const isOther = exprKind.case === 'comprehensionExpr' || (exprKind.case === 'selectExpr' && exprKind.value.testOnly);
  const parts = partsOf(expression).map((part) => collectAccesses(part, accesses));
  // A loop over literals reads nothing, so its value is known at once.
  if (exprKind.case === 'comprehensionExpr' && accesses.size === 0) return true;
  return !isOther && parts.every(Boolean);
}

/** Whether one access leads into another: their values would depend on each other. */
function holdsOneAnother(accesses: readonly Access[]): boolean {
  const names = accesses.map(({ root, steps }) => [root, ...steps]);
  return names.some((a) => names.some((b) => a.length < b.length && a.every((step, index) => step === b[index])));
}

const comparisons = new Set(['_==_', '_!=_', '_<_', '_<=_', '_>_', '_>=_']);

function comparedWith(expression: Expression): Constant[] | null {
  const { exprKind } = expression;
  if (accessOf(expression)) return [];
  if (exprKind.case !== 'callExpr') return null;
  const [left, right] = exprKind.value.args;
  if (!left || !right) return null;
  const operands = comparisons.has(exprKind.value.function)
    ? [left, right]
    : membershipOf(exprKind.value.function, left, right);
  const others = operands.filter((operand) => !accessOf(operand));
  const constants = others.map(constantOf).filter((constant) => constant !== undefined);
  return operands.length - others.length === 1 && constants.length === others.length ? constants : null;
}

/** `a in [1, 2]` compares `a` with each item. */
function membershipOf(name: string, left: Expression, right: Expression): Expression[] {
  if (name !== '@in' || right.exprKind.case !== 'listExpr') return [];
  return [left, ...right.exprKind.value.elements];
}

/** The expression without the numbers of its parts. Macros are unfolded in it, so it cannot be written as CEL again. */
function textOf(expression: Expression): string {
  return JSON.stringify(expression, (name, value: unknown) => {
    if (name === 'id') return undefined;
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}
