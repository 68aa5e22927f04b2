import { isDeepStrictEqual } from 'node:util';
import type { Decimal } from '#domain/shared/values/decimal.ts';
import { decimalsIn, replaceDecimals, restoreDecimals } from '#domain/shared/values/decimals-in.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import type { ValidationResult, VariableValues } from './variables.ts';

/**
 * Schemas know JavaScript's numbers alone. Any other number lies between two of them: what the schema says of both is true of it, too. Where
 * the schema tells the two apart, nobody knows what it says of the number, which is refused by the name of its variable.
 */

/** With these keywords, both neighbours may be alike and the number not. */
const multiples = /"multipleOf":/;
const uniqueness = /"uniqueItems":/;

/** `validate` for variables that may hold decimals, such as those that another node has put out. */
export async function validateExactly(
  schema: JsonObject,
  values: VariableValues,
  validate: (values: VariableValues) => ValidationResult | Promise<ValidationResult>,
): Promise<ValidationResult> {
  const decimals = [...decimalsIn(values)];
  if (decimals.length === 0) return validate(values);
  if (isUncertain(schema, decimals)) return refuse(values, decimals);
  const [below, above] = [
    await validate(replaceBy(values, (decimal) => neighboursOf(decimal)[0])),
    await validate(replaceBy(values, (decimal) => neighboursOf(decimal)[1])),
  ];
  if (!isDeepStrictEqual(below.errors, above.errors)) return refuse(values, decimals);
  return { ...below, variables: restoreDecimals(below.variables, values) as VariableValues };
}

function replaceBy(values: VariableValues, replace: (decimal: Decimal) => number): VariableValues {
  return replaceDecimals(values, replace) as VariableValues;
}

type Found = ReturnType<typeof decimalsIn> extends Generator<infer Each> ? Each : never;

function isUncertain(schema: JsonObject, decimals: readonly Found[]): boolean {
  const text = JSON.stringify(schema);
  // Large numbers of JavaScript are all integers.
  const hasLargeFraction = decimals.some(
    ({ decimal }) => !decimal.isInteger && neighboursOf(decimal).some((each) => Number.isInteger(each)),
  );
  return hasLargeFraction || multiples.test(text) || (decimals.length > 1 && uniqueness.test(text));
}

function refuse(variables: VariableValues, decimals: readonly Found[]): ValidationResult {
  const names = new Set(decimals.map(({ path }) => String(path[0])));
  const message = 'holds a number with more digits than the schema can be applied to exactly';
  return { valid: false, errors: [...names].map((name) => ({ path: `/${escapePointer(name)}`, message })), variables };
}

/** The JavaScript numbers below and above. */
function neighboursOf({ text }: Decimal): [number, number] {
  const value = Number(text);
  return [-next(-value), next(value)];
}

const float = new Float64Array(1);
const bits = new BigInt64Array(float.buffer);

/** The next larger JavaScript number. */
function next(value: number): number {
  if (value === Number.POSITIVE_INFINITY) return value;
  if (value === 0) return Number.MIN_VALUE;
  float[0] = value;
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? 1n : -1n);
  return float[0];
}
