/** Names of members and positions of items, from the whole value to a value inside of it. */
export type ValuePath = readonly (string | number)[];

/** The place of a value: a label for people, and a path for programs. */
export interface Place {
  /** Such as `rules[name="web"].port`; empty for the whole value. */
  readonly label: string;
  /** An item of a list is at its position in the later value, or in the earlier one if only that has it. */
  readonly path: ValuePath;
}

export const root: Place = { label: '', path: [] };

const plainName = /^[A-Za-z_][\w-]*$/;

/** The place of an attribute, or of a key of a map. */
export function member({ label, path }: Place, name: string): Place {
  const isFirst = label === '' || label.endsWith(' ');
  const step = plainName.test(name) ? `${isFirst ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
  return { label: label + step, path: [...path, name] };
}

/** The place of an item of a list. `name` identifies it for people, such as `name="web"`. */
export function item({ label, path }: Place, index: number, name?: string): Place {
  return { label: `${label}[${name ?? index}]`, path: [...path, index] };
}

/** The place inside of a text that is JSON. The path ends at the text, because a tool knows no paths inside of it. */
export function insideText({ label, path }: Place): Place {
  return { label: `${label} (JSON) `, path };
}

/** Whether one of two paths leads through the other. */
export function isWithin(path: ValuePath, other: ValuePath): boolean {
  const length = Math.min(path.length, other.length);
  for (let index = 0; index < length; index++) if (String(path[index]) !== String(other[index])) return false;
  return true;
}
