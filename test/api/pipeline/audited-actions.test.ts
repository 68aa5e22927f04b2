import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operations } from '#api/operations.ts';

/** How often the API's sources write an action of the audit. */
function countWritten(): Map<string, number> {
  const written = new Map<string, number>();
  for (const file of globSync('src/api/**/*.ts')) {
    for (const [, text = ''] of readFileSync(file, 'utf8').matchAll(/'([a-z_]+\.[a-z_]+)'/g))
      written.set(text, (written.get(text) ?? 0) + 1);
  }
  return written;
}

it('an operation writes its action once, in its declaration', () => {
  const written = countWritten();
  const declared = operations.flatMap(({ audit }) => audit ?? []);
  expect(declared.some((action) => written.get(action) === 1)).toBe(true);
  const repeated = [...new Set(declared)].filter(
    (action) => (written.get(action) ?? 0) > declared.filter((each) => each === action).length,
  );
  expect(repeated).toEqual([]);
});
