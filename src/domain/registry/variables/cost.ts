import type { JsonObject } from '#domain/shared/values/json.ts';
import { isLargerThan } from './json-size.ts';

/**
 * Which evaluations the main thread may do itself. The bounds were measured: compiling the largest cheap schema takes some
 * 20 ms, once, and the most costly cheap evaluation about 1 ms; a typical one takes 5 µs. Handing it to another thread takes longer
 * than that (20 µs, and 0.5 ms for one in a hundred), and it would wait there behind costly ones.
 */
const cheapSchema = { values: 500, depth: 16, bytes: 4 * 1024 };
const cheapInput = { values: 500, depth: 16, bytes: 16 * 1024 };
/** How many rules may meet how many values. */
const cheapSteps = 10_000;

/** Without references, each rule is applied to each value at most once. Without these, no rule takes longer for a longer text. */
const costlyKeyword = /"(\$ref|\$dynamicRef|pattern|patternProperties|format|uniqueItems)":/;

/** How many values an input of this schema may have; 0 if the schema is costly for any input. */
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
