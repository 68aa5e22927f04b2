import { Unprocessable } from '#domain/shared/errors.ts';
import type { FileLimits } from '../files.ts';

/** A file for a template, with its size in bytes. */
export interface Sized {
  readonly path: string;
  readonly size: number;
}

const namedFiles = 3;

/** @throws Unprocessable that names the exceeded limit, by how much, and the largest files */
export function checkLimits(files: readonly Sized[], limits: FileLimits): void {
  const advice = 'name its own directory as "path", or move files out';
  const refuse = (message: string) => {
    throw new Unprocessable(`the template has ${message}: ${advice}`, { code: 'source_too_large' });
  };
  if (files.length > limits.files) {
    refuse(`more than ${limits.files} files: it has ${files.length}, most of them in ${fullest(files)}`);
  }
  const bytes = sumOf(files);
  if (bytes > limits.bytes) {
    const largest = [...files].sort((a, b) => b.size - a.size).slice(0, namedFiles);
    const named = largest.map(({ path, size }) => `${quote(path)} with ${inMebibytes(size)}`).join(', ');
    refuse(
      `more than ${inMebibytes(limits.bytes)} in its files: it has ${inMebibytes(bytes)}, and the largest are ${named}`,
    );
  }
}

/** A path in a message: short, and on one line. */
export function quote(path: string): string {
  return JSON.stringify(path.length <= 200 ? path : `${path.slice(0, 200)}…`);
}

function sumOf(files: readonly Sized[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

function fullest(files: readonly Sized[]): string {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const directory = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
    counts.set(directory, (counts.get(directory) ?? 0) + 1);
  }
  const max = [...counts].sort((a, b) => b[1] - a[1]).slice(0, namedFiles);
  return max.map(([directory, count]) => `${quote(directory)} (${count})`).join(', ');
}

function inMebibytes(bytes: number): string {
  return `${Math.round((bytes / 1024 / 1024) * 100) / 100} MiB`;
}
