import type { JsonValue } from '#domain/shared/values/json.ts';
import { typesOf } from '../variable-types.ts';
import type { Constant } from './cel.ts';

/**
 * Chooses values that represent all values of a variable, as far as comparisons with literals can distinguish them. All values between two
 * neighbouring literals compare alike, so one of them is enough. There may be samples that the variable can never have: a condition that
 * none of the samples makes true is still never true.
 */

type Schema = Readonly<Record<string, JsonValue>>;

/** The limit of exact integers: CEL compares larger numbers exactly, but JavaScript does not. */
const maxExact = 2 ** 53;

/** All values that a schema allows, if they are few; null otherwise. */
export function allValues(schema: Schema | undefined): JsonValue[] | null {
  if (schema === undefined) return null;
  if (schema['const'] !== undefined) return [schema['const']];
  if (Array.isArray(schema['enum'])) return schema['enum'];
  const types = typesOf(schema);
  if (!types || types.some((type) => type !== 'boolean' && type !== 'null')) return null;
  return types.flatMap((type): JsonValue[] => (type === 'null' ? [null] : [true, false]));
}

/** Samples for a variable that is compared only with these literals; null if the literals are too large to be exact. */
export function samplesFor(schema: Schema | undefined, literals: readonly Constant[]): JsonValue[] | null {
  const numbers = literals.filter((value) => typeof value === 'number' || typeof value === 'bigint').map(Number);
  if (numbers.some((number) => !(Math.abs(number) < maxExact))) return null;
  const texts = literals.filter((value) => typeof value === 'string');
  const types = typesOf(schema) ?? ['string', 'number', 'boolean', 'array', 'object', 'null'];
  return types.flatMap((type): JsonValue[] => {
    if (type === 'string') return sampleTexts(texts);
    if (type === 'number') return sampleNumbers(numbers, schema);
    if (type === 'integer') return sampleIntegers(numbers, schema);
    if (type === 'boolean') return [true, false];
    if (type === 'array') return [[]];
    return type === 'object' ? [{}] : [null];
  });
}

/** Samples between texts: a literal followed by a NUL is the next text in the order, since no other text lies between them. */
function sampleTexts(literals: readonly string[]): string[] {
  return [...new Set(['', ...literals, ...literals.map((text) => `${text}\0`)])];
}

function sampleIntegers(literals: readonly number[], schema: Schema | undefined): number[] {
  const around = [0, ...literals].flatMap((number) => [
    Math.floor(number) - 1,
    Math.floor(number),
    Math.ceil(number),
    Math.ceil(number) + 1,
  ]);
  const { minimum, maximum, above, below } = boundsOf(schema);
  const edges = [Math.ceil(minimum), Math.floor(maximum), Math.floor(above) + 1, Math.ceil(below) - 1];
  return withinBounds([...around, ...edges], schema);
}

function sampleNumbers(literals: readonly number[], schema: Schema | undefined): number[] {
  const { minimum, maximum, above, below } = boundsOf(schema);
  const finite = [0, ...literals, minimum, maximum, above, below].filter(Number.isFinite);
  const points = [...new Set(finite)].sort((a, b) => a - b);
  const between = points.flatMap((point, index) => {
    const next = points[index + 1];
    return next === undefined ? [point] : [point, point + (next - point) / 2];
  });
  return withinBounds([(points[0] ?? 0) - 1, ...between, (points.at(-1) ?? 0) + 1], schema);
}

/** The bounds that a schema states; infinite if it states none. */
function boundsOf(schema: Schema | undefined) {
  const bound = (keyword: string, otherwise: number) => {
    const value = schema?.[keyword];
    return typeof value === 'number' ? value : otherwise;
  };
  return {
    minimum: bound('minimum', Number.NEGATIVE_INFINITY),
    maximum: bound('maximum', Number.POSITIVE_INFINITY),
    above: bound('exclusiveMinimum', Number.NEGATIVE_INFINITY),
    below: bound('exclusiveMaximum', Number.POSITIVE_INFINITY),
  };
}

function withinBounds(numbers: readonly number[], schema: Schema | undefined): number[] {
  const { minimum, maximum, above, below } = boundsOf(schema);
  const isWithin = (number: number) =>
    Number.isFinite(number) && number >= minimum && number <= maximum && number > above && number < below;
  return [...new Set(numbers.filter(isWithin))];
}
