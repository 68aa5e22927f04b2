import { isSecret, isUnknown, type Side } from '#domain/shared/values/comparison/marks.ts';
import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { unrepresentableReason } from '#domain/shared/values/representable.ts';

export interface Printed {
  readonly text: string;
  /** The end is left out, because the value is too long. */
  readonly isCut: boolean;
}

/** Characters that are invisible, or that change the reading order of the text. */
const unseen = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Writes out the invisible characters of a text. A reader who decides must see what it contains. */
export function showUnseen(text: string): string {
  return text.replace(unseen, (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/**
 * A value as indented JSON. Marks, such as that of a secret, become words. Printing stops after `max` characters, so that a large value
 * costs no more.
 */
export function printValue(value: Side, max: number): Printed {
  const pieces: string[] = [];
  let left = max;
  for (const piece of piecesOf(value, '')) {
    pieces.push(piece.slice(0, left));
    left -= piece.length;
    if (left < 0) return { text: showUnseen(pieces.join('')), isCut: true };
  }
  return { text: showUnseen(pieces.join('')), isCut: false };
}

function* piecesOf(value: Side, indent: string): Generator<string> {
  const word = wordOf(value);
  if (word !== null) return yield word;
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return yield JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const inner = `${indent}  `;
  let isFirst = true;
  // Reads the members one by one, because only the first ones of a large value are printed.
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    yield `${isFirst ? open : ','}\n${inner}${Array.isArray(value) ? '' : `${JSON.stringify(name)}: `}`;
    yield* piecesOf((value as Readonly<Record<string | number, JsonValue>>)[name], inner);
    isFirst = false;
  }
  yield isFirst ? `${open}${close}` : `\n${indent}${close}`;
}

/** The word for a value that is not shown; null for any other value. */
export function wordOf(value: Side): string | null {
  if (value === undefined) return '(not set)';
  if (isSecret(value)) return '(sensitive)';
  if (isUnknown(value)) return '(known after apply)';
  const reason = unrepresentableReason(value);
  return reason === null ? null : `(not stored: it ${reason})`;
}

/** Whether a value fits into a line, as a name or number does. */
export function isShort(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.length <= 120 && !value.includes('\n');
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return true;
  return wordOf(value) !== null || Object.keys(value).length === 0;
}
