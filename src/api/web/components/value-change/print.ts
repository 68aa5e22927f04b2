import { isSecret, isUnknown, type Side } from '#domain/shared/values/comparison/marks.ts';
import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { unrepresentableReason } from '#domain/shared/values/representable.ts';

export interface Printed {
  readonly text: string;
  /** Left out at the end, because the value is too long. */
  readonly isCut: boolean;
}

/** Signs that a reader does not see, or that change the order in which the text is read. */
const unseen = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A text in which signs that a reader would not see are written out. A reader who decides must see what it contains. */
export function showUnseen(text: string): string {
  return text.replace(unseen, (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** A value as JSON with indents, in which marks are words. It stops after `max` characters, so that no value is printed whole. */
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
  // The members of a large value are not all read, because only the first of them are printed.
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    yield `${isFirst ? open : ','}\n${inner}${Array.isArray(value) ? '' : `${JSON.stringify(name)}: `}`;
    yield* piecesOf((value as Readonly<Record<string | number, JsonValue>>)[name], inner);
    isFirst = false;
  }
  yield isFirst ? `${open}${close}` : `\n${indent}${close}`;
}

/** What people call a value that is not shown; null for any other. */
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
