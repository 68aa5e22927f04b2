import type { JsonObject } from '#domain/shared/values/json.ts';
import { isLargerThan } from './json-size.ts';

/**
 * Limits for evaluations that the main thread may run itself. The bounds were measured: compiling the largest cheap schema takes some 20
 * ms, once, and the most costly cheap evaluation about 1 ms; a typical one takes 5 µs. A transfer to another thread takes longer than a
 * typical evaluation (20 µs, and 0.5 ms for one in a hundred), and the evaluation would wait there for costly ones.
 */
const cheapSchema = { values: 500, depth: 16, bytes: 4 * 1024 };
const cheapInput = { values: 500, depth: 16, bytes: 16 * 1024 };
/** The maximum product of rules and values. */
const cheapSteps = 10_000;

/**
 * Keywords that make an evaluation costly. Without references, each rule is applied to each value at most once. Without the others, no rule
 * takes longer for a longer text.
 */
const costlyKeyword = /"(\$ref|\$dynamicRef|pattern|patternProperties|format|uniqueItems)":/;

/** The maximum number of values in an input for which a schema is cheap; 0 if it is never cheap. */
const cheapValues = new WeakMap<JsonObject, number>();

/** Whether an evaluation, and the compilation before it, is bounded by the small sizes of schema and input. */
export function isCheap(schema: JsonObject, input: object): boolean {
  const values = cheapValues.get(schema) ?? countCheapValues(schema);
  cheapValues.set(schema, values);
  return values > 0 && !isLargerThan(input, { ...cheapInput, values });
}

function countCheapValues(schema: JsonObject): number {
  const text = JSON.stringify(schema);
  if (text.length > cheapSchema.bytes || costlyKeyword.test(text) || isLargerThan(schema, cheapSchema)) return 0;
  // Each value of the schema's text follows a colon, a comma or an opening bracket.
  const rules = text.match(/[:,[]/g)?.length ?? 1;
  return Math.min(cheapInput.values, Math.floor(cheapSteps / rules));
}
