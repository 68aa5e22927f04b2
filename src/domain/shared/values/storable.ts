import { Decimal } from './decimal.ts';

/**
 * Checks whether PostgreSQL can store a value as text or as jsonb. Values from workers, executors and tools are checked here,
 * so that a bad one is refused by a rule with a clear message rather than by an error of the database.
 */

/** PostgreSQL or JavaScript may run out of stack with deeper values. */
export const maxStoredDepth = 200;
/** A jsonb value holds 256 MiB, including what PostgreSQL adds to each member. */
const maxBytes = 192 * 1024 * 1024;
const overheadBytes = 8;
/**
 * The maximum digits of a number. Every JavaScript number has fewer, and tools can read that many. PostgreSQL writes numbers without
 * exponents, so a short text may become very long.
 */
export const maxDigits = 1_000;
/** The largest number of PostgreSQL's type `int`. */
export const maxInteger = 2 ** 31 - 1;

/** Why a text cannot be stored; null if it can. `longest` counts UTF-16 units. */
export function findUnstorableText(text: unknown, longest: number): string | null {
  if (typeof text !== 'string') return 'is not text';
  if (text.length > longest) return `has more than ${longest} characters`;
  if (text.includes('\0')) return 'holds a NUL character';
  return text.isWellFormed() ? null : 'holds half of a character (a lone surrogate)';
}

/** Whether a text can be stored, apart from its length, which callers check separately. */
export function isStorableText(text: string): boolean {
  return findUnstorableText(text, Number.POSITIVE_INFINITY) === null;
}

/** Whether a number fits a column of PostgreSQL's type `int`, from `min` on. */
export function isStorableInteger(value: unknown, min: number): boolean {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= maxInteger;
}

/** Why a value cannot be stored as jsonb; null if it can. The reason never repeats the value. `depth`: how many levels are around it. */
export function findUnstorable(value: unknown, depth = 0): string | null {
  return inspect(value, { bytes: 0, depth });
}

interface Measure {
  bytes: number;
  depth: number;
}

function inspect(value: unknown, measure: Measure): string | null {
  measure.bytes += overheadBytes;
  if (typeof value === 'string') return inspectText(value, measure);
  if (measure.bytes > maxBytes) return 'is larger than 192 MiB';
  if (value instanceof Decimal) return inspectDecimal(value, measure);
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'holds a number that JSON does not have';
  if (value === null || value === undefined || typeof value === 'boolean') return null;
  if (typeof value !== 'object') return `holds a ${typeof value}, which JSON does not have`;
  return inspectMembers(value, measure);
}

function inspectDecimal(value: Decimal, measure: Measure): string | null {
  measure.bytes += value.writtenDigits;
  return value.writtenDigits <= maxDigits ? null : `holds a number of more than ${maxDigits} digits`;
}

function inspectText(text: string, measure: Measure): string | null {
  measure.bytes += Buffer.byteLength(text);
  if (measure.bytes > maxBytes) return 'is larger than 192 MiB';
  return findUnstorableText(text, maxBytes);
}

function inspectMembers(value: object, measure: Measure): string | null {
  if (measure.depth >= maxStoredDepth) return `is nested deeper than ${maxStoredDepth} levels`;
  measure.depth += 1;
  for (const [name, member] of Object.entries(value)) {
    const problem = (Array.isArray(value) ? null : inspectText(name, measure)) ?? inspect(member, measure);
    if (problem) return problem;
  }
  measure.depth -= 1;
  return null;
}
