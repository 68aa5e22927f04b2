import type { ValuePath } from '../planned-change.ts';

/** Where a value is: as people read it, and as the tool counts it. */
export interface Place {
  readonly shown: string;
  readonly path: ValuePath;
}

export const root: Place = { shown: '', path: [] };

const plainName = /^[A-Za-z_][\w-]*$/;

/** The place of an attribute, or of a key of a map. */
export function member({ shown, path }: Place, name: string): Place {
  const isFirst = shown === '' || shown.endsWith(' ');
  const step = plainName.test(name) ? `${isFirst ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
  return { shown: shown + step, path: [...path, name] };
}

/** The place of an item of a list. `name` is how people tell it from the others, such as `name="web"`. */
export function item({ shown, path }: Place, index: number, name?: string): Place {
  return { shown: `${shown}[${name ?? index}]`, path: [...path, index] };
}

/** The place inside of a text that is JSON. The tool knows no paths there. */
export function insideText({ shown, path }: Place): Place {
  return { shown: `${shown} (JSON) `, path };
}

/** Whether one of two paths leads through the other. */
export function isWithin(path: ValuePath, other: ValuePath): boolean {
  const length = Math.min(path.length, other.length);
  for (let index = 0; index < length; index++) if (String(path[index]) !== String(other[index])) return false;
  return true;
}
