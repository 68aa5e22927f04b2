import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { createWhole } from '#local/whole-file.ts';
import { makeTestDirectory } from '#test/support/directories.ts';

const files = 500;
const content = `${randomUUID()}\n`;

/** Reads each file as soon as it exists, and reports the files that it did not find whole. */
const reader = `
const { parentPort, workerData: { directory, files, content } } = require('node:worker_threads');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const readNext = (path) => { for (;;) { try { return readFileSync(path, 'utf8'); } catch {} } };
parentPort.postMessage('ready');
const partial = [];
for (let i = 0; i < files; i += 1) {
  const text = readNext(join(directory, String(i)));
  if (text !== content) partial.push(i);
}
parentPort.postMessage(partial);
`;

it('a new file has its whole content for a reader that opens it as soon as it exists', async () => {
  const directory = makeTestDirectory();
  const worker = new Worker(reader, { eval: true, workerData: { directory, files, content } });
  await once(worker, 'message');
  const partial = once(worker, 'message');
  for (let i = 0; i < files; i += 1) createWhole(join(directory, String(i)), content, 0o640);
  expect(await partial).toEqual([[]]);
  await worker.terminate();
  expect(readdirSync(directory)).toHaveLength(files);
  expect(statSync(join(directory, '0')).mode & 0o777).toBe(0o640);
});

it('creating a file that exists fails, and the file keeps its content', () => {
  const path = join(makeTestDirectory(), 'one');
  createWhole(path, 'first', 0o600);
  expect(() => createWhole(path, 'second', 0o600)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
  expect(readFileSync(path, 'utf8')).toBe('first');
});
