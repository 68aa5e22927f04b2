/** The position of a value inside a body: member names and array indexes from the root. */
export type FieldPath = readonly (string | number)[];

const plainName = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;
const maxNameLength = 80;

/**
 * Formats a path: `rules[2].name`, `labels["a b"]`; empty for the root. Unusual names are quoted and shortened, so that a
 * message stays one line of text.
 */
export function formatPath(path: FieldPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (plainName.test(part) && part.length <= maxNameLength) text += text === '' ? part : `.${part}`;
    else text += `[${quoteName(part)}]`;
  }
  return text;
}

/** Reads a text that `formatPath` has written. A shortened name stays shortened. */
export function parsePath(text: string): FieldPath {
  const parts = text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g);
  return [...parts].map(([, index, quoted, name = '']) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? name : String(JSON.parse(quoted));
  });
}

/** Quotes a name that a client sent: control characters are escaped, and at most 80 characters are kept. */
export function quoteName(name: string): string {
  return JSON.stringify(shortenName(name));
}

/** Keeps at most 80 characters of a name that a client sent. */
export function shortenName(name: string): string {
  return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}…`;
}
