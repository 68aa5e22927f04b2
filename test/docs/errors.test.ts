import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorCodes } from '#domain/shared/error-codes.ts';

it('docs/errors.md lists every code with its meaning, and no others', () => {
  const rows = [...readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `(\w+)` \| (.+) \|$/gm)];
  expect(Object.fromEntries(rows.map(([, code, meaning]) => [code, meaning]))).toEqual(errorCodes);
});
