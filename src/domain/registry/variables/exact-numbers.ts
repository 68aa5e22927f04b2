import { isDeepStrictEqual } from 'node:util';
import type { Decimal } from '#domain/shared/values/decimal.ts';
import { decimalsIn, type JsonObject, replaceDecimals, restoreDecimals } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import type { ValidationResult, VariableValues } from './variables.ts';

/**
 * Validates numbers that JavaScript cannot represent exactly. The validator knows only JavaScript numbers, so both neighbours of such a
 * number are validated. If the results are equal, the number has the same result. Otherwise the number is refused, and the error names its
 * variable.
 */

/** With these keywords, both neighbours may give the same result although the number itself would not. */
const multiples = /"multipleOf":/;
const uniqueness = /"uniqueItems":/;

/** `validate` for variables that may contain decimals, such as the outputs of another node. */
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
  // A fraction can have integer neighbours, since all large JavaScript numbers are integers.
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

/** The nearest JavaScript numbers below and above a decimal. */
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
