import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { representValue } from '#domain/shared/values/representable.ts';
import { DistinctTexts } from '#domain/shared/values/text.ts';
import { isObject } from '../shared/json.ts';

/** Replaces a value that is secret or not known yet. */
export const sensitiveMark: JsonValue = { sensitive: true };
export const unknownMark: JsonValue = { unknown: true };

/**
 * Replaces the marked parts of a value. Marks are `true` for the whole value, or have the shape of the value with `true` at
 * the marked places, as OpenTofu writes them. They may name places that the value does not have.
 */
export function maskMarked(value: JsonValue, marks: JsonValue | undefined, mask: JsonValue): JsonValue {
  if (marks === true) return mask;
  if (Array.isArray(marks)) {
    const items = Array.isArray(value) ? value : [];
    const length = Math.max(items.length, marks.length);
    const masked = Array.from({ length }, (_, index) => maskMarked(items[index] ?? null, marks[index], mask));
    return Array.isArray(value) || hasMark(marks) ? masked : value;
  }
  if (isObject(marks)) {
    const members = isObject(value) ? value : {};
    const marked = Object.entries(marks).filter(([, mark]) => hasMark(mark));
    if (!isObject(value) && marked.length === 0) return value;
    const masked = marked.map(([name, mark]) => [name, maskMarked(members[name] ?? null, mark, mask)]);
    return { ...members, ...Object.fromEntries(masked) };
  }
  return value;
}

/** Returns the marked parts of a value. */
export function collectMarked(value: JsonValue | undefined, marks: JsonValue | undefined): JsonValue[] {
  if (value === undefined || value === null) return [];
  if (marks === true) return [value];
  if (Array.isArray(marks))
    return Array.isArray(value) ? marks.flatMap((mark, index) => collectMarked(value[index], mark)) : [];
  if (!isObject(marks) || !isObject(value)) return [];
  return Object.entries(marks).flatMap(([name, mark]) => collectMarked(value[name], mark));
}

/** Whether marks contain any marked place. */
export function hasMark(marks: JsonValue | undefined): boolean {
  if (marks === true) return true;
  if (Array.isArray(marks)) return marks.some(hasMark);
  return isObject(marks) && Object.values(marks).some(hasMark);
}

/** The number of levels in a stored list of changes that are above the value of a change. */
const levelsAround = 2;

/** A value of a plan as it can be stored and shown: without known secrets, and with marks for what the database cannot hold. */
export function shownValue(value: JsonValue, redactor: Redactor): JsonValue {
  return representValue(maskSecrets(value, redactor), levelsAround).value;
}

/** Masks every text in a value that contains a known secret, even if nothing marks it. */
export function maskSecrets(value: JsonValue, redactor: Redactor): JsonValue {
  if (typeof value === 'string' || typeof value === 'number' || value instanceof Decimal)
    return redactor.contains(value) ? sensitiveMark : value;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, redactor));
  if (!isObject(value)) return value;
  return maskNames(value, redactor, (item) => maskSecrets(item, redactor));
}

/**
 * Redacts the names of an object's members. Each member keeps a distinct name. Names in `open` stay as they are, even if they contain a
 * secret.
 */
export function maskNames<Item, Masked>(
  members: Readonly<Record<string, Item>>,
  redactor: Redactor,
  mask: (item: Item, name: string) => Masked,
  open: ReadonlySet<string> = new Set(),
): Record<string, Masked> {
  const names = distinctNames(Object.keys(members), redactor, open);
  return Object.fromEntries(Object.entries(members).map(([name, item], index) => [names[index], mask(item, name)]));
}

/** Redacts names. Those that differ only in secrets are numbered, because they would become equal, and a reviewer must see every item. */
export function distinctNames(
  names: readonly string[],
  redactor: Redactor,
  open: ReadonlySet<string> = new Set(),
): string[] {
  const shown = names.map((name) => (open.has(name) ? name : redactor.redactText(name)));
  const distinct = new DistinctTexts([...open, ...names.filter((name, index) => shown[index] === name)]);
  return shown.map((name, index) => (name === names[index] ? name : distinct.add(name)));
}
