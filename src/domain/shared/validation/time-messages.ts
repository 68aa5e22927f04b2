import type { $ZodIssue } from 'zod/v4/core';

const expectations: Readonly<Record<string, string>> = {
  datetime: 'a time such as 2026-01-31T00:00:00Z',
  date: 'a day such as 2026-01-31',
};

/** A time with a space instead of the "+" of its offset: a query decodes a plus sign as a space. */
const lostPlus = /T\S* \d\d:?\d\d$/;

/** The expected form of a time or a day, if the issue is about one; undefined otherwise. */
export function explainTime(
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
