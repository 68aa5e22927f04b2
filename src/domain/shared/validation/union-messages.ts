import type { $ZodIssue } from 'zod/v4/core';

/** A problem of an object whose members fit none of its possible forms, or several. */
interface FormProblem {
  readonly message: string;
  /** Problems that the object has in every form. */
  readonly others: readonly $ZodIssue[];
}

/** One possible form of an object, with the reasons why the object does not have it. */
interface Form {
  readonly issues: readonly $ZodIssue[];
  readonly unknown: readonly string[];
  readonly missing: readonly string[];
}

/**
 * Returns the problem of an object whose members fit none of its forms, or several; undefined if its members show which form is meant.
 * @param branches the issues of each form
 */
export function explainForms(
  branches: readonly (readonly $ZodIssue[])[],
  isMissing: (name: PropertyKey) => boolean,
): FormProblem | undefined {
  if (branches.length < 2 || !branches.every(isAboutMembers)) return undefined;
  const forms = branches.map((issues) => toForm(issues, isMissing));
  const isIn = (list: 'unknown' | 'missing', how: 'some' | 'every') => (name: string) =>
    forms[how]((form) => form[list].includes(name));
  const given = [...new Set(forms.flatMap(({ unknown }) => unknown))];
  const telling = given.filter((name) => !isIn('unknown', 'every')(name));
  const [first] = forms as [Form, ...Form[]];
  if (telling.length === 0) {
    const needed = forms.map(({ missing }) => missing.filter((name) => !isIn('missing', 'every')(name)));
    if (needed.some((names) => names.length === 0)) return undefined;
    const specific = needed[0] ?? [];
    const others = first.issues.filter(({ path }) => !(path.length === 1 && specific.includes(String(path[0]))));
    return { message: `needs ${alternatives(needed)}`, others };
  }
  const known = forms.map(({ unknown }) => telling.filter((name) => !unknown.includes(name)));
  if (known.some((names) => names.length === telling.length)) return undefined;
  const message = `takes ${alternatives(known.filter((names) => names.length > 0))}, but not several of these`;
  const strangers = given.filter(isIn('unknown', 'every'));
  return { message, others: strangers.length > 0 ? [unknownKeys(strangers)] : [] };
}

/** Whether the value is an object, so that only its members are wrong. */
function isAboutMembers(issues: readonly $ZodIssue[]): boolean {
  return issues.length > 0 && issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys');
}

function toForm(issues: readonly $ZodIssue[], isMissing: (name: PropertyKey) => boolean): Form {
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [],
  );
  const missing = issues.flatMap(({ path: [name, ...rest] }) =>
    name !== undefined && rest.length === 0 && isMissing(name) ? [String(name)] : [],
  );
  return { issues, unknown, missing };
}

function unknownKeys(keys: string[]): $ZodIssue {
  return { code: 'unrecognized_keys', keys, path: [], message: '' };
}

/** Names of each form: `"every", or "cron" and "timezone"`. */
function alternatives(forms: readonly (readonly string[])[]): string {
  return forms.map((names) => names.map((name) => JSON.stringify(name)).join(' and ')).join(', or ');
}
