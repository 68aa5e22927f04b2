import { z } from 'zod';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';

/** One problem of a spec. `path` is a JSON pointer into the spec, `''` for the whole of it. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** A JSON pointer from its parts. */
export function pointer(...parts: readonly PropertyKey[]): string {
  return parts.map((part) => `/${escapePointer(String(part))}`).join('');
}

const maxProblems = 500;

/** The distinct problems in their order, up to a limit: nobody reads thousands, and a hostile draft can have one for each character. */
export function collectProblems(groups: Iterable<Iterable<Problem>>): Problem[] {
  const distinct = new Map<string, Problem>();
  for (const group of groups) {
    for (const problem of group) {
      const name = `${problem.path}\n${problem.message}`;
      if (distinct.has(name)) continue;
      if (distinct.size === maxProblems)
        return [...distinct.values(), { path: '', message: `has more problems than these ${maxProblems}` }];
      distinct.set(name, problem);
    }
  }
  return [...distinct.values()];
}

type Issue = z.core.$ZodIssue;

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

/** Converts the issues of a zod schema to problems. They repeat names that the author wrote, but no values. */
export function* describeIssues(schema: z.core.$ZodType, issues: readonly Issue[]): Generator<Problem> {
  for (const issue of issues) yield* describeIssue(schema, issue);
}

function describeIssue(schema: z.core.$ZodType, issue: Issue): Problem[] {
  const path = pointer(...issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = namesKnownAt(schema, issue.path);
    const message = known.length === 0 ? 'is not known here' : `is not known here: known are ${known.join(', ')}`;
    return issue.keys.map((key) => ({ path: path + pointer(key), message }));
  }
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    const [inner] = issue.issues;
    return [{ path, message: inner?.message ?? 'is not allowed as a name' }];
  }
  return [{ path, message: explain(issue) }];
}

/** The names of the members that a schema has for the object at a path; empty if the path leads to no object. */
function namesKnownAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.core.$ZodType | undefined = withoutWrappers(schema);
  for (const key of path) {
    if (at instanceof z.ZodObject) at = at.shape[String(key)];
    else at = at instanceof z.ZodRecord ? at.valueType : undefined;
    at = at && withoutWrappers(at);
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function withoutWrappers(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  return isWrapped ? withoutWrappers(schema.def.innerType) : schema;
}

function explain(issue: Issue): string {
  if (issue.code === 'invalid_type') {
    const expected = typeNames[issue.expected] ?? issue.expected;
    return /received undefined/.test(issue.message) ? `is required: ${expected}` : `must be ${expected}`;
  }
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_small') return bound(issue.origin, 'at least', Number(issue.minimum));
  if (issue.code === 'too_big') return bound(issue.origin, 'at most', Number(issue.maximum));
  return issue.message;
}

function bound(origin: string, comparison: string, limit: number): string {
  if (origin === 'string') return `must have ${comparison} ${limit} character${limit === 1 ? '' : 's'}`;
  if (origin === 'array') return `must have ${comparison} ${limit} item${limit === 1 ? '' : 's'}`;
  return `must be ${comparison} ${limit}`;
}
