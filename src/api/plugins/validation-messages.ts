import type { $ZodIssue } from 'zod/v4/core';
import { formatPath, quoteName } from './field-path.ts';

export type RequestPart = 'body' | 'query' | 'path' | 'header';

/** One thing that is wrong with a request; `path` names the field inside its part. */
export type FieldProblem = { in: RequestPart; path: string; message: string };

const nouns: Readonly<Record<RequestPart, string>> = {
  body: 'field',
  query: 'query parameter',
  path: 'path parameter',
  header: 'header',
};

/** A JSON word with its article, for zod's name of a type. */
const typeWords: Readonly<Record<string, string>> = {
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

/** Every problem zod found, in words: which field, what is wrong, what would be right. Never repeats a value. */
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
  return [{ in: part, path, message: `${subject} ${explain(issue)}` }];
}

/** Of a union's branches the one that fits best: the fewest problems, the deepest first. */
function closestBranch(branches: readonly (readonly $ZodIssue[])[]): readonly $ZodIssue[] {
  const depth = (branch: readonly $ZodIssue[]) => Math.max(0, ...branch.map((issue) => issue.path.length));
  const [best = []] = [...branches].sort((a, b) => depth(b) - depth(a) || a.length - b.length);
  return best;
}

function explain(issue: $ZodIssue): string {
  if (issue.code !== 'invalid_type') return decapitalize(issue.message);
  const expected = typeWords[issue.expected] ?? issue.expected;
  const received = /received (\w+)/i.exec(issue.message)?.[1]?.toLowerCase();
  if (received === 'undefined') return 'is required';
  if (issue.expected === 'int' && received === 'number') return 'must be an integer';
  return `must be ${expected}${received ? `, not ${typeWords[received] ?? received}` : ''}`;
}

/** Zod writes `Too small: expected …`; after a field's name that reads as `is too small: expected …`. */
function decapitalize(message: string): string {
  const first = message.charAt(0);
  const words = /^[A-Z][a-z]/.test(message) ? first.toLowerCase() + message.slice(1) : message;
  return /^(too|invalid|unrecognized)\b/.test(words) ? `is ${words}` : words;
}

function pathOf(path: readonly PropertyKey[]): string {
  return formatPath(path.map((part) => (typeof part === 'symbol' ? String(part) : part)));
}

function quoteField(part: RequestPart, path: string): string {
  return part === 'body' ? (path.startsWith('[') ? path : `"${path}"`) : quoteName(path);
}
