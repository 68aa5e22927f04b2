import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operations } from '#api/operations.ts';

/** Counts the string literals in the API's sources that look like an audit action. Pages name events, some of which have the same names. */
function countLiterals(): Map<string, number> {
  const written = new Map<string, number>();
  for (const file of globSync('src/api/**/*.ts')) {
    if (file.includes('/pages/')) continue;
    for (const [, text = ''] of readFileSync(file, 'utf8').matchAll(/'([a-z_]+\.[a-z_]+)'/g))
      written.set(text, (written.get(text) ?? 0) + 1);
  }
  return written;
}

it('the audit action of an operation is named only in its declaration', () => {
  const written = countLiterals();
  const declared = operations.flatMap(({ audit }) => audit ?? []);
  expect(declared.some((action) => written.get(action) === 1)).toBe(true);
  const repeated = [...new Set(declared)].filter(
    (action) => (written.get(action) ?? 0) > declared.filter((each) => each === action).length,
  );
  expect(repeated).toEqual([]);
});
