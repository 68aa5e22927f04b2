import type { $ZodIssue } from 'zod/v4/core';
import { formatPath, quoteName } from './field-path.ts';

export type RequestPart = 'body' | 'query' | 'path' | 'header';

/** One problem of a request. `path` is the field inside its part. */
export type FieldProblem = { in: RequestPart; path: string; message: string };

const nouns: Readonly<Record<RequestPart, string>> = {
  body: 'field',
  query: 'query parameter',
  path: 'path parameter',
  header: 'header',
};

/** The JSON name of a type, with its article, by zod's name. */
const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  tuple: 'an array',
  null: 'null',
  undefined: 'left out',
  nonoptional: 'given',
};

/** A part of a request that its schema rejects. */
export interface RejectedPart {
  readonly part: RequestPart;
  /** The content of the part, which tells a missing field from a wrong one. */
  readonly data: unknown;
  /** The names of the query parameters that the operation takes. */
  readonly known: readonly string[];
}

/** Describes zod's issues: which field, what is wrong, what is expected. Values are never repeated. */
export function describeIssues(rejected: RejectedPart, issues: readonly $ZodIssue[]): FieldProblem[] {
  return issues.flatMap((issue) => describeIssue(rejected, issue, []));
}

function describeIssue(rejected: RejectedPart, issue: $ZodIssue, base: readonly PropertyKey[]): FieldProblem[] {
  const { part } = rejected;
  const at = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const path = pathOf([...at, key]);
      const message = `unknown ${nouns[part]} ${quoteField(part, path)}${describeKnown(rejected)}`;
      return { in: part, path, message };
    });
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0 && isDefault(issue)) {
    return closestBranch(issue.errors).flatMap((inner) => describeIssue(rejected, inner, at));
  }
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) => describeIssue(rejected, inner, at));
  }
  const path = pathOf(at);
  const subject = path === '' ? `the ${part}` : `${nouns[part]} ${quoteField(part, path)}`;
  const problem = explain(issue, part, valueAt(rejected.data, at) === undefined);
  return [{ in: part, path, message: `${subject}${problem.startsWith('expected ') ? ':' : ''} ${problem}` }];
}

/** The branch of a union that fits best: the deepest problems first, then the fewest. */
function closestBranch(branches: readonly (readonly $ZodIssue[])[]): readonly $ZodIssue[] {
  const depth = (branch: readonly $ZodIssue[]) => Math.max(0, ...branch.map((issue) => issue.path.length));
  const [best = []] = [...branches].sort((a, b) => depth(b) - depth(a) || a.length - b.length);
  return best;
}

function describeKnown({ part, known }: RejectedPart): string {
  if (part !== 'query') return '';
  return known.length === 0 ? ': the operation takes none' : `: known are ${known.join(', ')}`;
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Whether zod wrote the message, because the schema defines none. */
function isDefault({ message }: $ZodIssue): boolean {
  return /^(Too|Invalid) /.test(message);
}

/** Keeps a message that a schema defines, and replaces zod's default messages. */
function explain(issue: $ZodIssue, part: RequestPart, isMissing: boolean): string {
  if (issue.code === 'invalid_type') return explainType(issue, part);
  if (!isDefault(issue)) return decapitalize(issue.message);
  if (issue.code === 'invalid_value') return oneOf(issue.values, isMissing);
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return oneOf(issue.options, isMissing);
  }
  if (issue.code === 'invalid_format' && issue.format === 'datetime') {
    return 'expected a time such as 2026-01-31T00:00:00Z';
  }
  if (issue.code === 'invalid_format' && issue.format === 'date') return 'expected a day such as 2026-01-31';
  if (issue.code === 'too_small') return explainBound(issue.origin, 'least', issue.minimum);
  if (issue.code === 'too_big') return explainBound(issue.origin, 'most', issue.maximum);
  return `is ${decapitalize(issue.message)}`;
}

function explainType(issue: Extract<$ZodIssue, { code: 'invalid_type' }>, part: RequestPart): string {
  const expected = typeNames[issue.expected] ?? issue.expected;
  const received = /received (\w+)/i.exec(issue.message)?.[1]?.toLowerCase();
  if (received === 'undefined') return 'is required';
  if (part === 'query' && (issue.expected === 'number' || issue.expected === 'int')) {
    return 'expected a whole number such as 12';
  }
  if (issue.expected === 'int' && received === 'number') return 'must be an integer';
  // A text of the query that is no number arrives here as NaN.
  if (received === undefined || received === 'nan') return `must be ${expected}`;
  return `must be ${expected}, not ${typeNames[received] ?? received}`;
}

function oneOf(values: readonly unknown[], isMissing: boolean): string {
  const choice = values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
  return isMissing ? `is required: ${choice}` : `must be ${choice}`;
}

const counted: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item', record: 'member' };

function explainBound(origin: string, side: 'least' | 'most', bound: number | bigint): string {
  const unit = counted[origin];
  if (unit === undefined) return `must be at ${side} ${bound}`;
  if (side === 'least' && Number(bound) === 1) return 'must not be empty';
  return `must have at ${side} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`;
}

function decapitalize(message: string): string {
  return /^[A-Z][a-z]/.test(message) ? message.charAt(0).toLowerCase() + message.slice(1) : message;
}

function pathOf(path: readonly PropertyKey[]): string {
  return formatPath(path.map((part) => (typeof part === 'symbol' ? String(part) : part)));
}

function quoteField(part: RequestPart, path: string): string {
  return part === 'body' ? (path.startsWith('[') ? path : `"${path}"`) : quoteName(path);
}
