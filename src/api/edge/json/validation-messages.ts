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

/** Describes zod's issues: which field, what is wrong, what is expected. Values are never repeated. */
export function describeIssues(part: RequestPart, issues: readonly $ZodIssue[]): FieldProblem[] {
  return issues.flatMap((issue) => describeIssue(part, issue, []));
}

function describeIssue(part: RequestPart, issue: $ZodIssue, base: readonly PropertyKey[]): FieldProblem[] {
  const at = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const path = pathOf([...at, key]);
      return { in: part, path, message: `unknown ${nouns[part]} ${quoteField(part, path)}` };
    });
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return closestBranch(issue.errors).flatMap((inner) => describeIssue(part, inner, at));
  }
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) => describeIssue(part, inner, at));
  }
  const path = pathOf(at);
  const subject = path === '' ? `the ${part}` : `${nouns[part]} ${quoteField(part, path)}`;
  const problem = explain(issue);
  return [{ in: part, path, message: `${subject}${problem.startsWith('expected ') ? ':' : ''} ${problem}` }];
}

/** The branch of a union that fits best: the deepest problems first, then the fewest. */
function closestBranch(branches: readonly (readonly $ZodIssue[])[]): readonly $ZodIssue[] {
  const depth = (branch: readonly $ZodIssue[]) => Math.max(0, ...branch.map((issue) => issue.path.length));
  const [best = []] = [...branches].sort((a, b) => depth(b) - depth(a) || a.length - b.length);
  return best;
}

/** Keeps a message that a schema defines, and replaces zod's default messages. */
function explain(issue: $ZodIssue): string {
  if (issue.code === 'invalid_type') return explainType(issue);
  if (!/^(Too|Invalid) /.test(issue.message)) return decapitalize(issue.message);
  if (issue.code === 'invalid_value') return oneOf(issue.values);
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) return oneOf(issue.options);
  if (issue.code === 'too_small') return explainBound(issue.origin, 'least', issue.minimum);
  if (issue.code === 'too_big') return explainBound(issue.origin, 'most', issue.maximum);
  return `is ${decapitalize(issue.message)}`;
}

function explainType(issue: Extract<$ZodIssue, { code: 'invalid_type' }>): string {
  const expected = typeNames[issue.expected] ?? issue.expected;
  const received = /received (\w+)/i.exec(issue.message)?.[1]?.toLowerCase();
  if (received === 'undefined') return 'is required';
  if (issue.expected === 'int' && received === 'number') return 'must be an integer';
  // A text of the query that is no number arrives here as NaN.
  if (received === undefined || received === 'nan') return `must be ${expected}`;
  return `must be ${expected}, not ${typeNames[received] ?? received}`;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`;
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
