import { expect, it } from 'vitest';
import { checkLimits, quote } from '#domain/sources/git/limits.ts';

const mebibyte = 1024 * 1024;
const limits = { files: 3, bytes: 2 * mebibyte };
const files = (...sizes: number[]) => sizes.map((size, index) => ({ path: `modules/a/${index}.tf`, size }));

it('a template with exactly as many files and bytes as the limits is accepted', () => {
  expect(() => checkLimits(files(mebibyte, mebibyte, 0), limits)).not.toThrow();
});

it('a template with a file too many is refused with the directory that holds most files', () => {
  const refused = [...files(1, 1, 1), { path: 'main.tf', size: 1 }];
  expect(() => checkLimits(refused, limits)).toThrow(
    'the template has more than 3 files: it has 4, most of them in "modules/a" (3), "." (1): name its own directory',
  );
});

it('a template with too many bytes is refused with its three largest files, the largest first', () => {
  const refused = files(mebibyte / 2, 2 * mebibyte, mebibyte);
  expect(() => checkLimits(refused, limits)).toThrow(
    'more than 2 MiB in its files: it has 3.5 MiB, and the largest are "modules/a/1.tf" with 2 MiB, "modules/a/2.tf" with 1 MiB, "modules/a/0.tf" with 0.5 MiB',
  );
});

it('a message names a path of 200 characters whole, and cuts a longer one', () => {
  expect(quote('a'.repeat(200))).toBe(`"${'a'.repeat(200)}"`);
  expect(quote('a'.repeat(201))).toBe(`"${'a'.repeat(200)}…"`);
});
