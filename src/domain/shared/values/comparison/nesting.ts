const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);
const opening = new Set(['{', '['].map((sign) => sign.charCodeAt(0)));
const closing = new Set(['}', ']'].map((sign) => sign.charCodeAt(0)));

/** The depth of the objects and lists in a JSON text. Recursive code may run out of stack with deep values. */
export function nestingOf(json: string): number {
  let depth = 0;
  let max = 0;
  let isText = false;
  for (let index = 0; index < json.length; index++) {
    const sign = json.charCodeAt(index);
    if (isText) {
      if (sign === backslash) index += 1;
      else if (sign === quote) isText = false;
    } else if (sign === quote) isText = true;
    else if (opening.has(sign)) max = Math.max(max, ++depth);
    else if (closing.has(sign)) depth -= 1;
  }
  return max;
}
