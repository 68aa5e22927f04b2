/**
 * What PostgreSQL takes as text and as jsonb, asked before it is told. Whatever comes from a worker, an executor or a tool
 * is judged here, so that it is refused by a rule with a name and not by an error of the database.
 */

/** Beyond this, PostgreSQL and JavaScript run out of stack somewhere. */
const deepest = 200;
/** A jsonb value holds 256 MiB; what it adds to each value is counted as well. */
const mostBytes = 192 * 1024 * 1024;
const bytesOfOneValue = 8;
const largestInteger = 2 ** 31 - 1;

/** Why a text cannot be stored; null where it can. `longest` counts UTF-16 units. */
export function findUnstorableText(text: unknown, longest: number): string | null {
  if (typeof text !== 'string') return 'is no text';
  if (text.length > longest) return `has more than ${longest} characters`;
  if (text.includes('\0')) return 'holds a NUL character';
  return text.isWellFormed() ? null : 'holds half of a character (a lone surrogate)';
}

/** Whether a number fits a column of PostgreSQL's type `int`, from `least` on. */
export function isStorableInteger(value: unknown, least: number): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= largestInteger;
}

/** Why a value cannot be stored as jsonb; null where it can. Never names what the value holds. */
export function findUnstorable(value: unknown): string | null {
  return judge(value, { bytes: 0, depth: 0 });
}

interface Measure {
  bytes: number;
  depth: number;
}

function judge(value: unknown, measure: Measure): string | null {
  measure.bytes += bytesOfOneValue;
  if (typeof value === 'string') return judgeText(value, measure);
  if (measure.bytes > mostBytes) return 'is larger than 192 MiB';
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'holds a number that is none in JSON';
  if (value === null || value === undefined || typeof value === 'boolean') return null;
  if (typeof value !== 'object') return `holds a ${typeof value}, which is no JSON`;
  return judgeMembers(value, measure);
}

function judgeText(text: string, measure: Measure): string | null {
  measure.bytes += Buffer.byteLength(text);
  if (measure.bytes > mostBytes) return 'is larger than 192 MiB';
  return findUnstorableText(text, mostBytes);
}

function judgeMembers(value: object, measure: Measure): string | null {
  if (measure.depth >= deepest) return `is nested deeper than ${deepest} levels`;
  measure.depth += 1;
  for (const [name, member] of Object.entries(value)) {
    const problem = (Array.isArray(value) ? null : judgeText(name, measure)) ?? judge(member, measure);
    if (problem) return problem;
  }
  measure.depth -= 1;
  return null;
}
