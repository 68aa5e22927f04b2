import { hasDecimal, isJsonObject, type JsonValue, replaceDecimals } from '#domain/shared/values/json.ts';
import { hasUnrepresentable } from '#domain/shared/values/representable.ts';
import { describeReference, type Reference } from '../reference-syntax.ts';
import type { ConditionFacts } from './conditions.ts';

/**
 * The facts of a condition with numbers that CEL can represent; or why the condition cannot be evaluated, because it reads a number that
 * CEL would change.
 */
export function toCelNumbers(
  facts: ConditionFacts,
  references: readonly Reference[],
): { readonly facts: ConditionFacts } | { readonly problem: string } {
  for (const reference of references) {
    const value = valueAt(reference, facts) ?? null;
    const name = describeReference(reference);
    if (hasDecimal(value)) return { problem: `${name} holds a number with more digits than a condition can compare` };
    if (hasUnrepresentable(value)) return { problem: `${name} has a part that cannot be stored` };
  }
  // The condition does not read the remaining decimals, so they can be removed.
  const nodes = Object.entries(facts.nodes).map(
    ([key, { status, outputs }]) => [key, { status, outputs: withoutDecimals(outputs) }] as const,
  );
  return { facts: { variables: withoutDecimals(facts.variables), nodes: Object.fromEntries(nodes) } };
}

type Values = Record<string, JsonValue>;

function withoutDecimals(values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, replaceDecimals(value, () => null)]));
}

function valueAt({ path, name, ...reference }: Reference, { variables, nodes }: ConditionFacts): JsonValue | undefined {
  const values = reference.kind === 'variable' ? variables : nodes[reference.node]?.outputs;
  let value: JsonValue | undefined = values && Object.hasOwn(values, name) ? values[name] : undefined;
  for (const step of path) value = memberOf(value, step);
  return value;
}

function memberOf(value: JsonValue | undefined, step: string | number): JsonValue | undefined {
  if (Array.isArray(value)) return value[Number(step)];
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
