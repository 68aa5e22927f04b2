import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEndOfUntrustedFile } from '#executors/sandbox/untrusted-files.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'ends-'));
  await writeFile(join(root, 'log'), 'token=secret\nsecond\nthird\n');
  await writeFile(join(root, 'line'), 'token=secret');
});
afterAll(() => rm(root, { recursive: true, force: true }));

test.each([
  ['log', 1000, 'token=secret\nsecond\nthird\n'],
  ['log', 26, 'token=secret\nsecond\nthird\n'],
  ['log', 17, 'second\nthird\n'],
  ['log', 7, 'third\n'],
  ['log', 3, ''],
  ['line', 6, ''],
])('the end of the file %s within %i bytes has no line that begins earlier', async (name, bytes, text) => {
  expect((await readEndOfUntrustedFile(root, name, bytes))?.toString()).toBe(text);
});

test('the end of a file that does not exist is null', async () => {
  expect(await readEndOfUntrustedFile(root, 'none', 10)).toBeNull();
});
