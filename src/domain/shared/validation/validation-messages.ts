import type { $ZodIssue } from 'zod/v4/core';
import { Invalid, type ServiceError } from '../errors.ts';
import { formatPath, shortenName } from './field-path.ts';
import { explainForms } from './union-messages.ts';

const expectations: Readonly<Record<string, string>> = {
  datetime: 'a time such as 2026-01-31T00:00:00Z',
  date: 'a day such as 2026-01-31',
};

/** A time with a space instead of the "+" of its offset: a query decodes a plus sign as a space. */
const lostPlus = /T\S* \d\d:?\d\d$/;

/** The expected form of a time or a day, if the issue is about one; undefined otherwise. */
function explainTime(
  issue: $ZodIssue,
  { isQuery, value }: { readonly isQuery: boolean; readonly value: unknown },
): string | undefined {
  const expected = expectedFormats(issue).map((format) => expectations[format]);
  if (expected.length === 0 || expected.includes(undefined)) return undefined;
  const isUnescaped = isQuery && typeof value === 'string' && lostPlus.test(value);
  const hint = isUnescaped ? '; a "+" must be sent as %2B, since it stands for a space in a query' : '';
  return `expected ${expected.join(', or ')}${hint}`;
}

/** The expected formats, if a text has none of them; empty if the issue is about anything else as well. */
function expectedFormats(issue: $ZodIssue): string[] {
  if (issue.code === 'invalid_format') return [issue.format];
  if (issue.code !== 'invalid_union') return [];
  const formats = issue.errors.map(([first, ...others]) =>
    first?.code === 'invalid_format' && first.path.length === 0 && others.length === 0 ? first.format : '',
  );
  return formats.includes('') ? [] : formats;
}

export type RequestPart = 'body' | 'query' | 'path' | 'header';

/** One problem of a request. `path` is the path of the field within its part. */
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
interface RejectedPart {
  readonly part: RequestPart;
  /** The content of the part, which shows whether a field is missing or wrong. */
  readonly data: unknown;
  /** The names of the query parameters that the operation takes. */
  readonly known: readonly string[];
}

/** Describes zod's issues: which field, what is wrong, what is expected. Values are never repeated. */
export function describeIssues(rejected: RejectedPart, issues: readonly $ZodIssue[]): FieldProblem[] {
  const problems = issues.flatMap((issue) => describeIssue(rejected, issue, []));
  // A repeated parameter with several wrong values would report the same problem for each.
  return [...new Map(problems.map((problem) => [`${problem.path}\n${problem.message}`, problem])).values()];
}

/** The number of problems that one answer lists. */
const maxProblems = 20;

/** Combines problems into one error, which lists the first twenty. */
export function invalidRequest(problems: readonly FieldProblem[]): Invalid {
  const listed = problems.slice(0, maxProblems);
  const more = problems.length > listed.length ? `; and ${problems.length - listed.length} more` : '';
  return new Invalid(listed.map((problem) => problem.message).join('; ') + more, { errors: listed });
}

/** The problems that an error names. The message of an error without a list may begin with the field, as in `version: expected …`. */
export function fieldProblemsOf(error: ServiceError): FieldProblem[] {
  const errors = error.details?.['errors'];
  if (Array.isArray(errors)) return errors as FieldProblem[];
  const [, path = ''] = /^([\w.[\]-]+): /.exec(error.message) ?? [];
  return [{ in: 'body', path, message: error.message }];
}

function describeIssue(rejected: RejectedPart, issue: $ZodIssue, base: readonly PropertyKey[]): FieldProblem[] {
  const { part } = rejected;
  const at = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const path = pathOf(part, [...at, key]);
      const message = `unknown ${nouns[part]} ${quoteField(part, path)}${describeKnown(rejected, key)}`;
      return { in: part, path, message };
    });
  }
  const path = pathOf(part, at);
  const subject = path === '' ? `the ${part}` : `${nouns[part]} ${quoteField(part, path)}`;
  if (isRepeated(rejected, issue, at)) return [{ in: part, path, message: `${subject} must be given only once` }];
  const time = explainTime(issue, { isQuery: part === 'query', value: valueAt(rejected.data, at) });
  if (time) return [{ in: part, path, message: `${subject}: ${time}` }];
  if (issue.code === 'invalid_union' && issue.errors.length > 0 && isDefault(issue)) {
    const form = explainForms(issue.errors, (name) => isMissing(rejected.data, [...at, name]));
    if (form) {
      const others = form.others.flatMap((inner) => describeIssue(rejected, inner, at));
      return [{ in: part, path, message: `${subject} ${form.message}` }, ...others];
    }
    return closestBranch(issue.errors).flatMap((inner) => describeIssue(rejected, inner, at));
  }
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) => describeIssue(rejected, inner, at));
  }
  const problem = explain(issue, part, isMissing(rejected.data, at));
  return [{ in: part, path, message: joinProblem(subject, problem) }];
}

/** The first word of a problem that forms a sentence with its subject, as in `field "name" must be a string`. */
const predicate = /^(is|must|has|names|needs|goes|takes|contains|declares|does|was|cannot) /;

/** Joins a subject and a problem: to one sentence if the problem is a predicate, and otherwise with a colon. */
export function joinProblem(subject: string, problem: string): string {
  return `${subject}${predicate.test(problem) ? '' : ':'} ${problem}`;
}

/** The branch of a union that fits best: the one with the deepest problems or, among equals, the fewest. */
function closestBranch(branches: readonly (readonly $ZodIssue[])[]): readonly $ZodIssue[] {
  const depth = (branch: readonly $ZodIssue[]) => Math.max(0, ...branch.map((issue) => issue.path.length));
  const [best = []] = [...branches].sort((a, b) => depth(b) - depth(a) || a.length - b.length);
  return best;
}

function describeKnown({ part, known }: RejectedPart, unknown: string): string {
  if (part !== 'query') return '';
  const [, bare = ''] = /^(.+)\[\d*\]$/.exec(unknown) ?? [];
  if (known.includes(bare)) return `: write "${bare}" without brackets, also where you repeat it`;
  return known.length === 0 ? ': the operation takes none' : `: known are ${known.join(', ')}`;
}

/** An item of a list cannot be missing, so the problem is its value. */
function isMissing(data: unknown, path: readonly PropertyKey[]): boolean {
  return typeof path.at(-1) !== 'number' && valueAt(data, path) === undefined;
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Whether a query gives several values of a parameter that takes one. */
function isRepeated({ part, data }: RejectedPart, issue: $ZodIssue, at: readonly PropertyKey[]): boolean {
  return part === 'query' && !('origin' in issue && issue.origin === 'array') && Array.isArray(valueAt(data, at));
}

/** Whether zod wrote the message, because the schema defines none. */
function isDefault({ message }: $ZodIssue): boolean {
  return /^(Too|Invalid) /.test(message);
}

/** Keeps a message that a schema defines, and replaces zod's default messages. */
function explain(issue: $ZodIssue, part: RequestPart, missing: boolean): string {
  if (issue.code === 'invalid_type') return explainType(issue, part);
  if (!isDefault(issue)) return decapitalize(issue.message);
  if (issue.code === 'invalid_value') return oneOf(issue.values, missing);
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return oneOf(issue.options, missing);
  }
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
  // A text in the query that is not a number arrives here as NaN.
  if (received === undefined || received === 'nan') return `must be ${expected}`;
  return `must be ${expected}, not ${typeNames[received] ?? received}`;
}

function oneOf(values: readonly unknown[], missing: boolean): string {
  const choice = values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
  return missing ? `is required: ${choice}` : `must be ${choice}`;
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

/** Only a body has nested members. In other parts the path is just the name, without the index of a repeated value. */
function pathOf(part: RequestPart, path: readonly PropertyKey[]): string {
  if (part !== 'body') return shortenName(String(path[0] ?? ''));
  return formatPath(path.map((name) => (typeof name === 'symbol' ? String(name) : name)));
}

function quoteField(part: RequestPart, path: string): string {
  return part === 'body' ? (path.startsWith('[') ? path : `"${path}"`) : JSON.stringify(path);
}
