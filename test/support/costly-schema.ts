import type { JsonObject } from '#domain/shared/values/json.ts';

/** A valid schema whose evaluation doubles at every level, for the variable `a`. It takes longer than any time limit. */
export function makeCostlySchema(levels = 40): JsonObject {
  const $defs: JsonObject = { n0: { type: 'integer' } };
  for (let level = 1; level < levels; level++) {
    const inner = { $ref: `#/$defs/n${level - 1}` };
    $defs[`n${level}`] = { anyOf: [inner, inner] };
  }
  return { type: 'object', properties: { a: { $ref: `#/$defs/n${levels - 1}` } }, $defs };
}
