import { isCelError } from '@bufbuild/cel';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import type { Reference } from '../reference-syntax.ts';
import { schemaAt } from '../variable-types.ts';
import { type Access, type Constant, type Expression, toCel } from './cel.ts';
import { type Formula, type Leaf, leavesOf, toFormula } from './condition-leaves.ts';
import { evaluateExpression, explainError, parseCondition, readNames } from './conditions.ts';
import { allValues, samplesFor } from './samples.ts';

/**
 * Whether a condition can ever be true. "Never" is claimed only if it is proven: every leaf is tried with samples that represent all values
 * that it reads. A leaf without such samples, or one that asks whether a value exists, counts as possibly true and possibly false. Leaves
 * that read different values count as independent. These assumptions allow more cases than can happen, so a condition that is not true in
 * any of them is never true.
 */
export type Verdict =
  | { readonly kind: 'possible' }
  /** Some values make it false and none make it true. */
  | { readonly kind: 'never' }
  /** All values make it an error. */
  | { readonly kind: 'broken'; readonly reason: string };

/** The possible statuses of a node when a condition reads them. The node has always ended before. */
const endedStatuses: readonly JsonValue[] = ['succeeded', 'skipped'];

/** The maximum number of evaluations; beyond it, nothing is claimed. */
const maxEvaluations = 5_000;

export function judgeCondition(expression: Expression, variables: JsonValue): Verdict {
  const formula = toFormula(expression);
  const search = new Search(formula, leavesOf(formula), variables);
  return search.run();
}

/** `open`: some of what the leaf reads has no value yet. */
type Outcome = 'true' | 'false' | 'error' | 'open';

class Search {
  readonly #formula: Formula;
  readonly #choices: readonly (readonly [name: string, values: readonly JsonValue[]])[];
  readonly #free: ReadonlySet<string>;
  readonly #assigned = new Map<string, JsonValue>();
  readonly #known = new Map<string, Outcome>();
  readonly #seen = new Set<Outcome>();
  #reason = '';
  #evaluations = 0;

  constructor(formula: Formula, leaves: readonly Leaf[], variables: JsonValue) {
    this.#formula = formula;
    const samples = sampleAccesses(leaves, variables);
    const isFree = (leaf: Leaf) => !leaf.isPlain || [...leaf.accesses.keys()].some((name) => !samples.has(name));
    // A leaf counts as free (possibly true or false) if the samples do not cover one of its accesses.
    this.#free = new Set(leaves.filter((leaf) => isFree(leaf) || !isCovered(leaf, samples)).map(({ text }) => text));
    const needed = new Set(
      leaves.filter(({ text }) => !this.#free.has(text)).flatMap(({ accesses }) => [...accesses.keys()]),
    );
    this.#choices = [
      ...[...samples].flatMap(([name, { values }]) => (needed.has(name) ? [[name, values] as const] : [])),
      ...[...this.#free].map((text) => [text, [true, false]] as const),
    ];
  }

  run(): Verdict {
    this.#try(0);
    if (this.#seen.has('true') || this.#evaluations > maxEvaluations) return { kind: 'possible' };
    if (this.#seen.has('false')) return { kind: 'never' };
    return { kind: 'broken', reason: this.#reason };
  }

  /** Assigns values to one access after another, as long as the outcome is open. */
  #try(depth: number): void {
    const outcome = this.#evaluate(this.#formula);
    if (outcome !== 'open') return void this.#seen.add(outcome);
    const [name, values] = this.#choices[depth] ?? ['', []];
    for (const value of values) {
      if (this.#seen.has('true') || this.#evaluations > maxEvaluations) break;
      this.#assigned.set(name, value);
      this.#try(depth + 1);
    }
    this.#assigned.delete(name);
  }

  /** Evaluates a formula as CEL does: `false && error` is false and `true || error` is true. */
  #evaluate(formula: Formula): Outcome {
    if (formula.kind === 'leaf') return this.#evaluateLeaf(formula.leaf);
    if (formula.kind === 'not') return negated[this.#evaluate(formula.part)];
    if (formula.kind === 'choice') {
      const test = this.#evaluate(formula.test);
      return test === 'true' || test === 'false' ? this.#evaluate(test === 'true' ? formula.yes : formula.no) : test;
    }
    const outcomes = formula.parts.map((part) => this.#evaluate(part));
    const order: Outcome[] = formula.kind === 'and' ? ['false', 'open', 'error'] : ['true', 'open', 'error'];
    return order.find((outcome) => outcomes.includes(outcome)) ?? (formula.kind === 'and' ? 'true' : 'false');
  }

  #evaluateLeaf(leaf: Leaf): Outcome {
    if (this.#free.has(leaf.text)) {
      const value = this.#assigned.get(leaf.text);
      return value === undefined ? 'open' : value ? 'true' : 'false';
    }
    const names = [...leaf.accesses.keys()];
    if (names.some((name) => !this.#assigned.has(name))) return 'open';
    const key = JSON.stringify([leaf.text, ...names.map((name) => this.#assigned.get(name))]);
    const outcome = this.#known.get(key) ?? this.#calculate(leaf);
    this.#known.set(key, outcome);
    return outcome;
  }

  #calculate({ expression, accesses }: Leaf): Outcome {
    this.#evaluations += 1;
    const values = [...accesses].map(([name, access]) => [access, this.#assigned.get(name) ?? null] as const);
    const result = evaluateExpression(expression, bind(values));
    if (typeof result === 'boolean') return result ? 'true' : 'false';
    this.#reason ||= isCelError(result) ? explainError(result.message) : 'must be true or false, not another value';
    return 'error';
  }
}

const negated: Readonly<Record<Outcome, Outcome>> = { true: 'false', false: 'true', error: 'error', open: 'open' };

interface Samples {
  readonly values: readonly JsonValue[];
  /** Whether these are all values, and not only samples for comparisons. */
  readonly areAll: boolean;
}

/** The samples of each access, by name. Accesses without samples are left out. */
function sampleAccesses(leaves: readonly Leaf[], variables: JsonValue): Map<string, Samples> {
  const read = new Map(leaves.flatMap(({ accesses }) => [...accesses]));
  const literals = new Map<string, Constant[]>();
  for (const leaf of leaves) {
    for (const name of leaf.literals ? leaf.accesses.keys() : []) {
      literals.set(name, [...(literals.get(name) ?? []), ...(leaf.literals ?? [])]);
    }
  }
  const samples = [...read].flatMap(([name, access]): [string, Samples][] => {
    const found = samplesOf(access, literals.get(name) ?? [], variables);
    return found ? [[name, found]] : [];
  });
  return new Map(samples);
}

function samplesOf({ root, steps }: Access, literals: readonly Constant[], variables: JsonValue): Samples | null {
  if (root === 'nodes' && steps[1] === 'status') return { values: endedStatuses, areAll: true };
  const schema = root === 'variables' ? schemaAt(variables, steps) : undefined;
  const all = allValues(schema);
  if (all) return { values: all, areAll: true };
  const values = samplesFor(schema, literals);
  return values && { values, areAll: false };
}

/** Whether the samples distinguish all values that the leaf distinguishes. */
function isCovered({ literals, accesses }: Leaf, samples: ReadonlyMap<string, Samples>): boolean {
  return literals !== null || [...accesses.keys()].every((name) => samples.get(name)?.areAll);
}

/** The values as `variables` and `nodes`, with nothing else in them. */
function bind(values: readonly (readonly [Access, JsonValue])[]) {
  const members: { [name: string]: JsonValue } = { variables: {}, nodes: {} };
  for (const [{ root, steps }, value] of values) place(members, [root, ...steps], value);
  return { variables: toCel(members['variables'] ?? {}), nodes: toCel(members['nodes'] ?? {}) };
}

function place(
  members: { [name: string]: JsonValue },
  [step = '', ...rest]: readonly (string | number)[],
  value: JsonValue,
): void {
  if (rest.length === 0) {
    members[step] = value;
    return;
  }
  const inner = members[step];
  const container = isJsonObject(inner) ? inner : {};
  members[step] = container;
  place(container, rest, value);
}

/** What a condition reads and whether it can be true, or why it is not a valid condition. */
export type ConditionReport =
  | { readonly problem: string }
  | { readonly references: Reference[]; readonly statuses: string[]; readonly verdict: Verdict };

/** Examines a condition over variables that fit this schema. It may take long: call it through the evaluator. */
export function examineCondition(text: string, variables: JsonValue): ConditionReport {
  const parsed = parseCondition(text);
  if ('problem' in parsed) return parsed;
  return { ...readNames(parsed.names), verdict: judgeCondition(parsed.expression, variables) };
}
