import { isCelError, parse, plan } from '@bufbuild/cel';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { describeReference, type Reference } from '../reference-syntax.ts';
import { maxConditionLength } from '../spec.ts';
import { type Expression, environment, toCel } from './cel.ts';
import { collectNames, NameRefused, type Names } from './condition-names.ts';

/** Conditions (`when`) in CEL over `variables` and `nodes`. Call these functions through the evaluator: their text comes from authors. */

export type CheckedCondition =
  | { readonly references: Reference[] /** The nodes whose status it reads. */; readonly statuses: string[] }
  | { readonly problem: string };

export interface ConditionFacts {
  readonly variables: Record<string, JsonValue>;
  readonly nodes: Record<string, { readonly status: string; readonly outputs: Record<string, JsonValue> }>;
}

/** The maximum nesting of a condition, since the parser's time grows with its square. */
const maxNesting = 32;

/** Returns what a condition reads, or why it is not a valid condition. */
export function checkCondition(text: string): CheckedCondition {
  const parsed = parseCondition(text);
  if ('problem' in parsed) return parsed;
  return readNames(parsed.names);
}

/** The distinct references and statuses that a condition reads. */
export function readNames({ references, statuses }: Names): { references: Reference[]; statuses: string[] } {
  const distinct = new Map(references.map((reference) => [describeReference(reference), reference]));
  return { references: [...distinct.values()], statuses: [...statuses] };
}

/** Evaluates a condition. A problem names what is missing and never repeats a value. */
export function evaluateCondition(
  text: string,
  facts: ConditionFacts,
): { readonly value: boolean } | { readonly problem: string } {
  const parsed = parseCondition(text);
  if ('problem' in parsed) return parsed;
  const missing = parsed.names.references.find((reference) => !isKnown(reference, facts));
  const result = evaluateExpression(parsed.expression, {
    variables: toCel(facts.variables),
    nodes: toCel(facts.nodes),
  });
  if (!isCelError(result)) return asBoolean(result);
  if (missing) return { problem: `${describeReference(missing)} has no value` };
  return { problem: explainError(result.message) };
}

/** The value of an expression, or an error of CEL. */
export function evaluateExpression(expression: Expression, bindings: Record<string, ReturnType<typeof toCel>>) {
  return plan(environment, expression)(bindings);
}

export type ParsedCondition = { readonly expression: Expression; readonly names: Names };

export function parseCondition(text: string): ParsedCondition | { readonly problem: string } {
  if (text.length > maxConditionLength) return { problem: `must have at most ${maxConditionLength} characters` };
  if (isDeep(text)) return { problem: `must not nest brackets deeper than ${maxNesting} levels` };
  try {
    const expression = parse(text).expr;
    const names: Names = { references: [], statuses: new Set() };
    collectNames(expression, names);
    return { expression, names };
  } catch (error) {
    if (error instanceof NameRefused) return { problem: error.message };
    return { problem: explainSyntax(error) };
  }
}

function isDeep(text: string): boolean {
  let depth = 0;
  let deepest = 0;
  for (const letter of text) {
    if ('([{'.includes(letter)) depth += 1;
    if (')]}'.includes(letter)) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest > maxNesting;
}

/** Explains an error of the parser, which throws a syntax error with its place, or a `RangeError` if it runs out of stack. */
function explainSyntax(error: unknown): string {
  if (error instanceof RangeError) return 'is nested too deeply';
  const message = error instanceof Error ? error.message : '';
  const [, column, what = ''] = /^<input>:\d+:(\d+): (.*)$/s.exec(message) ?? [];
  if (column === undefined) return 'is not an expression of CEL';
  return `is not an expression of CEL: ${what.slice(0, 100)} (character ${column})`;
}

function asBoolean(value: unknown): { value: boolean } | { problem: string } {
  return typeof value === 'boolean' ? { value } : { problem: 'must be true or false: compare it, such as with "== 1"' };
}

/** Errors of CEL that repeat no value, each with an explanation. */
const knownErrors: readonly (readonly [RegExp, (found: RegExpMatchArray) => string])[] = [
  [
    /^found no matching overload for '[^']*' applied to '\(([a-z_, ().<>]*)\)'/,
    ([, types]) => `uses values of types that do not go together (${types})`,
  ],
  [/^(?:int |uint )?(?:divide|modulus) by zero/, () => 'divides by zero'],
  [/overflow/, () => 'computes a number that is too large'],
  [
    /^field not found|^no such (?:key|field)|out of bounds/,
    () => 'reads a member that is not there; ask for it with has(…) first',
  ],
];

export function explainError(message: string): string {
  for (const [pattern, explain] of knownErrors) {
    const found = message.match(pattern);
    if (found) return explain(found);
  }
  return 'cannot be evaluated with these values';
}

function isKnown(reference: Reference, { variables, nodes }: ConditionFacts): boolean {
  const values = reference.kind === 'variable' ? variables : membersOf(nodes, reference.node)?.outputs;
  let member: JsonValue | undefined = values && membersOf(values, reference.name);
  for (const step of reference.path) member = isContainer(member) ? membersOf(member, step) : undefined;
  return member !== undefined;
}

function isContainer(value: JsonValue | undefined): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null;
}

function membersOf<T>(members: Record<string, T>, name: string | number): T | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}
