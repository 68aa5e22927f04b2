/** Where a value stands inside a body: member names and array positions from the root. */
export type FieldPath = readonly (string | number)[];

const plainName = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;
const longestName = 80;

/**
 * A path as people write it: `rules[2].name`, `labels["a b"]`; empty for the root. A name that a client made up is
 * quoted and cut, so that a message stays a line of text whatever was sent.
 */
export function formatPath(path: FieldPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (plainName.test(part) && part.length <= longestName) text += text === '' ? part : `.${part}`;
    else text += `[${quoteName(part)}]`;
  }
  return text;
}

/** A client's name in quotes: control characters escaped, at most 80 characters of it. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length <= longestName ? name : `${name.slice(0, longestName)}…`);
}
