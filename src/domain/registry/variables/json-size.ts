export type JsonLimits = { readonly values: number; readonly depth: number; readonly bytes: number };

/**
 * Whether a JSON value has more members, levels or text than its limits. It visits the value level by level, so that a deep
 * value cannot overflow the stack.
 */
export function isLargerThan(value: unknown, limits: JsonLimits): boolean {
  let level: unknown[] = [value];
  let values = 0;
  let bytes = 0;
  for (let depth = 0; level.length > 0; depth++) {
    values += level.length;
    for (const text of level) if (typeof text === 'string') bytes += Buffer.byteLength(text);
    const objects = level.filter((member) => typeof member === 'object' && member !== null);
    bytes += objects.reduce((sum: number, object) => sum + Object.keys(object).join('').length, 0);
    if (depth > limits.depth || values > limits.values || bytes > limits.bytes) return true;
    level = objects.flatMap((object) => Object.values(object));
  }
  return false;
}
